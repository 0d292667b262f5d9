// SPDX-License-Identifier: BSD-2-Clause
#include "measure/gpus.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLD_NS (3 * NSEC_PER_SEC) /* beyond two passes: the driver does not answer */
#define SILENT_NS (10 * NSEC_PER_SEC)
#define LEAVE_NS (NSEC_PER_SEC / 2) /* beyond two passes: no account comes */

int gpu_desk_make(struct gpu_desk *d, uint64_t interval_ns)
{
	*d = (struct gpu_desk){ .interval_ns = interval_ns };
	d->table = memory_calloc(1, sizeof(*d->table));
	d->next = memory_calloc(1, sizeof(*d->next));
	d->steps = memory_calloc(MAX_GPU_USES, sizeof(*d->steps));
	d->leavers = memory_calloc(MAX_GPU_LEAVERS, sizeof(*d->leavers));
	d->pids = memory_calloc(GPU_READER_PIDS, sizeof(*d->pids));
	return d->table && d->next && d->steps && d->leavers && d->pids ? 0 : -ENOMEM;
}

int gpu_desk_open(struct gpu_desk *d, uint64_t interval_ns)
{
	int err;

	*d = (struct gpu_desk){ 0 };
	if (gpus_why_missing())
		return 0;
	err = gpu_desk_make(d, interval_ns);
	if (!err)
		err = gpu_reader_start(&d->reader, interval_ns);
	if (err)
		gpu_desk_done(d);
	return err;
}

void gpu_desk_done(struct gpu_desk *d)
{
	gpu_reader_leave(d->reader);
	free(d->table);
	free(d->next);
	free(d->steps);
	free(d->leavers);
	gpu_pasts_done(&d->pasts);
	free(d->pids);
	*d = (struct gpu_desk){ 0 };
}

/* Returns the index of the device in @known, which keeps it if the reader loses it. */
uint32_t gpu_known_find(struct gpu_desk *d, const char *name)
{
	for (size_t i = 0; i < d->nr_known; i++)
		if (!strcmp(d->known[i].now.name, name))
			return (uint32_t)i;
	if (d->nr_known == MAX_GPUS)
		return MAX_GPUS;
	snprintf(d->known[d->nr_known].now.name, sizeof(d->known->now.name), "%s", name);
	return (uint32_t)d->nr_known++;
}

static uint64_t counter_growth(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void known_take(struct gpu_known *k, const struct gpu_device *now)
{
	const struct gpu_device *before = k->had ? &k->now : now;

	k->energy_uj = counter_growth(now->energy_uj, before->energy_uj);
	k->throttled_ns = counter_growth(now->throttled_ns, before->throttled_ns);
	k->ecc_errors = counter_growth(now->ecc_errors, before->ecc_errors);
	k->xid_errors = counter_growth(now->xid_errors, before->xid_errors);
	k->now = *now;
	k->had |= now->has;
	k->is_there = true;
}

/* Sets @at to the place of each device of the last pass in @known. */
static void devices_take(struct gpu_desk *d, uint32_t at[MAX_GPUS])
{
	for (size_t i = 0; i < d->nr_known; i++)
		d->known[i].is_there = false;
	for (size_t i = 0; i < d->table->nr_devices; i++) {
		at[i] = gpu_known_find(d, d->table->devices[i].name);
		d->dropped += at[i] == MAX_GPUS;
		if (at[i] < MAX_GPUS)
			known_take(&d->known[at[i]], &d->table->devices[i]);
	}
}

/*
 * Returns what the counters of @u have been at the pass before. A pair without counters at that
 * pass, as of a device that did not answer, has counted before: nothing is known of the time since.
 */
static struct gpu_use use_before(const struct gpu_desk *d, const struct gpu_use *u)
{
	const char *name = d->table->devices[u->device].name;

	for (size_t i = 0; i < d->next->nr_uses; i++) {
		const struct gpu_use *old = &d->next->uses[i];

		if (old->pid == u->pid && old->has & GPU_BUSY &&
		    old->device < d->next->nr_devices &&
		    !strcmp(d->next->devices[old->device].name, name))
			return *old;
	}
	return u->seen_ns > d->next->pass_ns ? (struct gpu_use){ 0 } : *u;
}

static int step_compare(const void *a, const void *b)
{
	const struct gpu_step *p = a, *q = b;

	return p->pid != q->pid ? (p->pid < q->pid ? -1 : 1) : (int)p->device - (int)q->device;
}

static void steps_make(struct gpu_desk *d, const uint32_t at[MAX_GPUS])
{
	d->nr_steps = 0;
	for (size_t i = 0; i < d->table->nr_uses; i++) {
		const struct gpu_use *u = &d->table->uses[i];
		struct gpu_use old;

		if (u->device >= d->table->nr_devices || at[u->device] >= MAX_GPUS)
			continue;
		old = use_before(d, u);
		d->steps[d->nr_steps++] = (struct gpu_step){
			.pid = u->pid,
			.device = at[u->device],
			.has = u->has,
			.busy_ns = counter_growth(u->busy_ns, old.busy_ns),
			.memory_busy_ns = counter_growth(u->memory_busy_ns, old.memory_busy_ns),
			.memory_bytes = u->memory_bytes,
			.worked_ns = u->busy_at_ns ? u->busy_at_ns : u->seen_ns,
		};
	}
	qsort(d->steps, d->nr_steps, sizeof(*d->steps), step_compare);
}

/* The same uses without increments, for a drain at which there is no new pass. */
static void steps_repeat(struct gpu_desk *d)
{
	for (size_t i = 0; i < d->nr_steps; i++)
		d->steps[i].busy_ns = d->steps[i].memory_busy_ns = 0;
	for (size_t i = 0; i < d->nr_known; i++) {
		struct gpu_known *k = &d->known[i];

		k->energy_uj = k->throttled_ns = k->ecc_errors = k->xid_errors = 0;
	}
}

/* Returns the first step of the process, or NULL. Those of further devices follow it. */
struct gpu_step *gpu_steps_find(const struct gpu_desk *d, uint32_t pid)
{
	size_t low = 0, high = d->nr_steps;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (d->steps[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < d->nr_steps && d->steps[low].pid == pid ? &d->steps[low] : NULL;
}

bool gpu_step_is_of(const struct gpu_desk *d, const struct gpu_step *s, uint32_t pid)
{
	return s && s < d->steps + d->nr_steps && s->pid == pid;
}

bool gpu_desk_memory(const struct gpu_desk *d, uint32_t pid, uint64_t serial, uint64_t *bytes)
{
	*bytes = 0;
	for (const struct gpu_step *s = gpu_steps_find(d, pid); gpu_step_is_of(d, s, pid); s++) {
		if (s->serial == serial && !(s->has & GPU_MEMORY))
			return false;
		*bytes += s->serial == serial ? s->memory_bytes : 0;
	}
	return d->is_fresh;
}

/* Adds what the process of @row has used since the drain before. */
static void gpu_process_take(struct gpu_desk *d, const struct drain_row *row, uint64_t now_ns)
{
	uint64_t together_bytes = 0;

	for (struct gpu_step *s = gpu_steps_find(d, row->pid); gpu_step_is_of(d, s, row->pid);
	     s++) {
		s->serial = row->serial;
		together_bytes += s->memory_bytes;
		gpu_pasts_add(&d->pasts, s, together_bytes, now_ns);
	}
}

static bool gpu_process_is_alive(const struct rows *rows, uint64_t serial)
{
	const struct drain_row *row = rows_find(rows, serial);

	return row && !row->end_boot_ns;
}

static void pids_tell(struct gpu_desk *d, const struct rows *rows)
{
	size_t nr = 0;

	if (!d->reader || d->is_closed)
		return;
	for (size_t i = 0; i < rows->nr && nr < GPU_READER_PIDS; i++)
		if (!rows->all[i].end_boot_ns)
			d->pids[nr++] = rows->all[i].pid;
	gpu_reader_set_pids(d->reader, d->pids, nr);
}

bool gpu_desk_take(struct gpu_desk *d)
{
	return d->reader && gpu_reader_take(d->reader, d->next);
}

static void pass_take(struct gpu_desk *d)
{
	struct gpu_table *old = d->table;
	uint32_t at[MAX_GPUS];

	d->table = d->next;
	d->next = old;
	d->dropped += d->table->uses_dropped;
	d->step_ns = old->pass_ns ? counter_growth(d->table->pass_ns, old->pass_ns) : 0;
	devices_take(d, at);
	steps_make(d, at);
	gpu_pasts_account(&d->pasts, d->table, at);
}

static bool uses_are_known(const struct gpu_desk *d)
{
	if (d->table->nr_uses) /* by open descriptors, where the driver does not tell them */
		return true;
	for (size_t i = 0; i < d->table->nr_devices; i++)
		if (d->table->devices[i].has & GPU_USES)
			return true;
	return false;
}

/* Returns true if the last pass has a device whose processes have PIDs that are not ours. */
static bool pids_are_unknown(const struct gpu_desk *d)
{
	for (size_t i = 0; d->is_foreign && i < d->table->nr_devices; i++)
		if (!strcmp(d->table->devices[i].driver, "nvidia"))
			return true;
	return false;
}

/* Says once why values are missing: a run goes on without them. */
static void silence_note(struct gpu_desk *d, uint64_t now_ns)
{
	if (!d->opened_ns)
		d->opened_ns = now_ns;
	if (!d->reader || d->is_silent ||
	    now_ns < (d->table->pass_ns ? d->table->pass_ns : d->opened_ns) + SILENT_NS)
		return;
	d->is_silent = true;
	log_warn("%s; the use of GPUs is missing from now on",
		 gpu_reader_is_gone(d->reader) ? "the process that reads GPUs has ended"
					       : "the driver of the GPUs does not answer");
}

/* Returns true if one of our processes uses the device, or did so until it ended. */
static bool known_is_ours(const struct gpu_desk *d, uint32_t device)
{
	for (size_t i = 0; i < d->pasts.nr; i++)
		if (d->pasts.all[i].device == device)
			return true;
	return false;
}

/* The counter does not say which error it was. */
static void errors_note(const struct gpu_desk *d)
{
	for (uint32_t i = 0; i < d->nr_known; i++)
		if (d->known[i].xid_errors && known_is_ours(d, i))
			log_warn("the driver reports error Xid %u of %s, %s",
				 d->known[i].now.last_xid, d->known[i].now.name,
				 d->known[i].now.model);
}

void gpu_desk_drain(struct gpu_desk *d, bool is_new, const struct rows *rows, uint64_t now_ns)
{
	if (!d->table)
		return;
	d->step_ns = 0;
	if (is_new)
		pass_take(d);
	else
		steps_repeat(d);
	/* no device: the driver's library was not found, or does not answer */
	d->is_fresh = d->table->pass_ns && d->table->nr_devices && !pids_are_unknown(d) &&
		      now_ns < d->table->pass_ns + 2 * d->interval_ns + OLD_NS;
	d->has_uses = uses_are_known(d);
	if (!d->is_fresh)
		d->nr_steps = 0;
	for (size_t i = 0; i < d->nr_steps; i++)
		d->steps[i].serial = 0;
	for (size_t i = 0; i < rows->nr && d->nr_steps; i++)
		gpu_process_take(d, &rows->all[i], now_ns);
	errors_note(d);
	for (size_t i = 0; i < d->pasts.nr; i++)
		if (gpu_process_is_alive(rows, d->pasts.all[i].serial))
			d->pasts.all[i].seen_ns = now_ns;
	gpu_pasts_prune(&d->pasts, now_ns);
	silence_note(d, now_ns);
	pids_tell(d, rows);
}

/* Returns true if the driver will have an account of the process, which it has not given yet. */
static bool has_account_to_come(const struct gpu_desk *d, uint64_t serial)
{
	size_t nr;
	const struct gpu_past *p = gpu_pasts_find(&d->pasts, serial, &nr);

	for (size_t i = 0; i < nr; i++)
		if (!p[i].has_account && d->known[p[i].device].now.has & GPU_ACCOUNTS)
			return true;
	return false;
}

bool gpu_desk_awaits(struct gpu_desk *d, const struct rows *rows)
{
	for (size_t i = 0; d->reader && i < d->pasts.nr; i++)
		if (!gpu_process_is_alive(rows, d->pasts.all[i].serial) &&
		    has_account_to_come(d, d->pasts.all[i].serial)) {
			gpu_reader_ask(d->reader);
			return true;
		}
	return false;
}

bool gpu_desk_keep(struct gpu_desk *d, const struct process_record *r, uint64_t now_ns)
{
	if (!d->table || !(r->flags & PROCESS_ENDED) || !has_account_to_come(d, r->serial) ||
	    d->nr_leavers == MAX_GPU_LEAVERS)
		return false;
	d->leavers[d->nr_leavers++] =
		(struct gpu_leaver){ *r, now_ns + 2 * d->interval_ns + LEAVE_NS };
	if (d->reader)
		gpu_reader_ask(d->reader);
	return true;
}

bool gpu_desk_next_leaver(struct gpu_desk *d, uint64_t now_ns, struct process_record *r)
{
	for (size_t i = 0; i < d->nr_leavers; i++) {
		if (now_ns < d->leavers[i].until_ns &&
		    has_account_to_come(d, d->leavers[i].record.serial))
			continue;
		*r = d->leavers[i].record;
		d->nr_leavers--;
		memmove(&d->leavers[i], &d->leavers[i + 1],
			(d->nr_leavers - i) * sizeof(*d->leavers));
		return true;
	}
	return false;
}

/* Texts, as serials exceed the numbers of JSON. */
void gpu_desk_keep_pasts(const struct gpu_desk *d, struct jsonw *j)
{
	char text[300];

	jsonw_array(j, "gpu_pasts");
	for (size_t i = 0; i < d->pasts.nr; i++) {
		const struct gpu_past *p = &d->pasts.all[i];

		snprintf(text, sizeof(text),
			 "%" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			 " %" PRIu64 " %s",
			 p->serial, p->pid, p->has, p->busy_ns, p->memory_busy_ns,
			 p->memory_peak_bytes, p->together_bytes, p->seen_ns,
			 d->known[p->device].now.name);
		jsonw_string(j, NULL, text);
	}
	jsonw_array_end(j);
}

void gpu_desk_resume_pasts(struct gpu_desk *d, const json_t *state)
{
	const json_t *all = json_object_get(state, "gpu_pasts");

	for (size_t i = 0; i < json_array_size(all); i++) {
		const char *text = json_string_value(json_array_get(all, i));
		char name[sizeof(d->known->now.name)];
		struct gpu_past p = { 0 };

		if (!text || sscanf(text,
				    "%" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64
				    " %" SCNu64 " %" SCNu64 " %" SCNu64 " %47[^\n]",
				    &p.serial, &p.pid, &p.has, &p.busy_ns, &p.memory_busy_ns,
				    &p.memory_peak_bytes, &p.together_bytes, &p.seen_ns, name) != 9)
			continue;
		p.device = gpu_known_find(d, name);
		if (p.device < MAX_GPUS)
			gpu_pasts_put(&d->pasts, &p);
	}
}
