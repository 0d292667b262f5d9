// SPDX-License-Identifier: BSD-2-Clause
#include "measure/gpus.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/procstat.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLD_NS (3 * NSEC_PER_SEC) /* beyond two passes: the driver does not answer */
#define FORGET_NS (60 * NSEC_PER_SEC)
#define MOST_PAST 65536

int gpu_desk_make(struct gpu_desk *d, uint64_t interval_ns)
{
	*d = (struct gpu_desk){ .interval_ns = interval_ns };
	d->table = memory_calloc(1, sizeof(*d->table));
	d->next = memory_calloc(1, sizeof(*d->next));
	d->steps = memory_calloc(MAX_GPU_USES, sizeof(*d->steps));
	d->pids = memory_calloc(GPU_READER_PIDS, sizeof(*d->pids));
	return d->table && d->next && d->steps && d->pids ? 0 : -ENOMEM;
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
	free(d->past);
	free(d->pids);
	*d = (struct gpu_desk){ 0 };
}

/* Returns the index of the device in @known, which keeps it if the reader loses it. */
static uint32_t known_find(struct gpu_desk *d, const char *name)
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
	const struct gpu_device *before = k->now.has ? &k->now : now;

	k->energy_uj = counter_growth(now->energy_uj, before->energy_uj);
	k->throttled_ns = counter_growth(now->throttled_ns, before->throttled_ns);
	k->ecc_errors = counter_growth(now->ecc_errors, before->ecc_errors);
	k->xid_errors = counter_growth(now->xid_errors, before->xid_errors);
	k->now = *now;
	k->is_there = true;
}

/* Sets @at to the place of each device of the last pass in @known. */
static void devices_take(struct gpu_desk *d, uint32_t at[MAX_GPUS])
{
	for (size_t i = 0; i < d->nr_known; i++)
		d->known[i].is_there = false;
	for (size_t i = 0; i < d->table->nr_devices; i++) {
		at[i] = known_find(d, d->table->devices[i].name);
		if (at[i] < MAX_GPUS)
			known_take(&d->known[at[i]], &d->table->devices[i]);
	}
}

static const struct gpu_use *use_before(const struct gpu_desk *d, const struct gpu_use *u)
{
	const char *name = d->table->devices[u->device].name;

	for (size_t i = 0; i < d->next->nr_uses; i++) {
		const struct gpu_use *old = &d->next->uses[i];

		if (old->pid == u->pid && old->device < d->next->nr_devices &&
		    !strcmp(d->next->devices[old->device].name, name))
			return old;
	}
	return NULL;
}

static int step_compare(const void *a, const void *b)
{
	const struct gpu_step *p = a, *q = b;

	return p->pid != q->pid ? (p->pid < q->pid ? -1 : 1) : (int)p->device - (int)q->device;
}

static void steps_make(struct gpu_desk *d, const uint32_t at[MAX_GPUS])
{
	const struct gpu_use *u, *old;

	d->nr_steps = 0;
	for (size_t i = 0; i < d->table->nr_uses; i++) {
		u = &d->table->uses[i];
		if (u->device >= d->table->nr_devices || at[u->device] >= MAX_GPUS)
			continue;
		old = use_before(d, u);
		d->steps[d->nr_steps++] = (struct gpu_step){
			.pid = u->pid,
			.device = at[u->device],
			.has = u->has,
			.busy_ns = counter_growth(u->busy_ns, old ? old->busy_ns : 0),
			.memory_busy_ns =
				counter_growth(u->memory_busy_ns, old ? old->memory_busy_ns : 0),
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
static struct gpu_step *steps_find(const struct gpu_desk *d, uint32_t pid)
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

static bool step_is_of(const struct gpu_desk *d, const struct gpu_step *s, uint32_t pid)
{
	return s && s < d->steps + d->nr_steps && s->pid == pid;
}

uint64_t gpu_desk_memory(const struct gpu_desk *d, uint32_t pid, uint64_t serial)
{
	uint64_t bytes = 0;

	for (const struct gpu_step *s = steps_find(d, pid); step_is_of(d, s, pid); s++)
		bytes += s->serial == serial ? s->memory_bytes : 0;
	return bytes;
}

static int past_compare(const void *key, const void *item)
{
	const uint64_t serial = *(const uint64_t *)key,
		       other = ((const struct gpu_past *)item)->serial;

	return serial < other ? -1 : serial > other;
}

const struct gpu_past *gpu_desk_find(const struct gpu_desk *d, uint64_t serial)
{
	return d->nr_past ? bsearch(&serial, d->past, d->nr_past, sizeof(*d->past), past_compare)
			  : NULL;
}

static struct gpu_past *past_insert(struct gpu_desk *d, uint64_t serial)
{
	struct gpu_past *all = d->past;
	size_t room = d->room_past ? 2 * d->room_past : 64, at = d->nr_past;

	if (d->nr_past == d->room_past) {
		all = room <= MOST_PAST ? memory_reallocarray(all, room, sizeof(*all)) : NULL;
		if (!all) {
			d->forgone++;
			return NULL;
		}
		d->past = all;
		d->room_past = room;
	}
	for (; at && all[at - 1].serial > serial; at--)
		all[at] = all[at - 1];
	all[at] = (struct gpu_past){ .serial = serial };
	d->nr_past++;
	return &all[at];
}

/* Adds what the process of @row has used since the drain before. */
static void past_take(struct gpu_desk *d, const struct drain_row *row, uint64_t now_ns)
{
	struct gpu_step *s = steps_find(d, row->pid);
	struct gpu_past *past;
	uint64_t bytes = 0;

	if (!s)
		return;
	past = (struct gpu_past *)gpu_desk_find(d, row->serial);
	if (!past)
		past = past_insert(d, row->serial);
	for (; step_is_of(d, s, row->pid); s++) {
		s->serial = row->serial;
		bytes += s->memory_bytes;
		if (!past)
			continue;
		past->busy_ns += s->busy_ns;
		past->memory_busy_ns += s->memory_busy_ns;
		past->has |= s->has;
	}
	if (!past)
		return;
	past->seen_ns = now_ns;
	if (bytes > past->memory_peak_bytes)
		past->memory_peak_bytes = bytes;
}

static void past_prune(struct gpu_desk *d, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->nr_past; i++)
		if (now_ns - d->past[i].seen_ns < FORGET_NS)
			d->past[kept++] = d->past[i];
	d->nr_past = kept;
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
	d->step_ns = old->pass_ns ? counter_growth(d->table->pass_ns, old->pass_ns) : 0;
	devices_take(d, at);
	steps_make(d, at);
}

/* Returns true if the last pass has a device whose processes have PIDs that are not ours. */
static bool pids_are_unknown(const struct gpu_desk *d)
{
	for (size_t i = 0; d->is_foreign && i < d->table->nr_devices; i++)
		if (!strcmp(d->table->devices[i].driver, "nvidia"))
			return true;
	return false;
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
	if (!d->is_fresh)
		d->nr_steps = 0;
	for (size_t i = 0; i < d->nr_steps; i++)
		d->steps[i].serial = 0;
	for (size_t i = 0; i < rows->nr && d->nr_steps; i++)
		past_take(d, &rows->all[i], now_ns);
	past_prune(d, now_ns);
	pids_tell(d, rows);
}

void gpu_tally_done(struct gpu_tally *g)
{
	free(g->all);
	*g = (struct gpu_tally){ 0 };
}

/* Before the uses at a drain are added. Without a new pass it used as much as before. */
static void held_clear(struct gpu_held *h, bool is_new)
{
	h->is_held = false;
	h->has = GPU_BUSY | GPU_MEMORY | GPU_MEMORY_BUSY;
	h->memory_bytes = h->worked_ns = 0;
	if (is_new)
		h->used_milli = 0;
}

static struct gpu_held *held_find(struct gpu_tally *g, uint32_t device)
{
	struct gpu_held *all;

	for (size_t i = 0; i < g->nr; i++)
		if (g->all[i].device == device)
			return &g->all[i];
	all = memory_reallocarray(g->all, g->nr + 1, sizeof(*all));
	if (!all)
		return NULL;
	g->all = all;
	all[g->nr] = (struct gpu_held){ .device = device };
	held_clear(&all[g->nr], true);
	return &all[g->nr++];
}

static void held_add(struct gpu_held *h, const struct gpu_step *s, uint64_t step_ns)
{
	h->is_held = true;
	h->has &= s->has;
	h->memory_bytes += s->memory_bytes;
	h->busy_ns += s->busy_ns;
	h->memory_busy_ns += s->memory_busy_ns;
	if (step_ns)
		h->used_milli += s->busy_ns * 1000 / step_ns;
	if (s->worked_ns > h->worked_ns)
		h->worked_ns = s->worked_ns;
}

static void held_end(struct gpu_held *h, const struct gpu_desk *d, bool has_all)
{
	const struct gpu_known *k = &d->known[h->device];

	if (!h->is_held && !has_all)
		return;
	if (h->used_milli > 1000)
		h->used_milli = 1000;
	if (h->is_held && !h->used_milli && h->has & GPU_BUSY)
		h->idle_ns += d->step_ns;
	h->energy_uj += k->energy_uj;
	h->throttled_ns += k->throttled_ns;
	h->ecc_errors += k->ecc_errors;
	h->xid_errors += k->xid_errors;
}

/* Adds the steps of the process of @row. Returns 0 or -ENOMEM. */
static int gpu_tally_add(struct gpu_tally *g, const struct gpu_desk *d, const struct drain_row *row)
{
	const struct gpu_step *s = steps_find(d, row->pid);

	for (; step_is_of(d, s, row->pid); s++) {
		struct gpu_held *h;

		if (s->serial != row->serial)
			continue;
		h = held_find(g, s->device);
		if (!h)
			return -ENOMEM;
		held_add(h, s, d->step_ns);
	}
	return 0;
}

int gpu_tally_drain(struct gpu_tally *g, const struct gpu_desk *d, const struct row_list *rows)
{
	int err = 0;

	if (!d->table)
		return 0;
	for (size_t i = 0; i < g->nr; i++)
		held_clear(&g->all[i], d->step_ns);
	for (size_t i = 0; i < rows->nr && d->nr_steps; i++)
		err |= gpu_tally_add(g, d, rows->all[i]);
	for (uint32_t i = 0; g->has_all && i < d->nr_known; i++)
		if (d->known[i].is_there && !held_find(g, i))
			err = -ENOMEM;
	for (size_t i = 0; i < g->nr; i++)
		held_end(&g->all[i], d, g->has_all);
	return err;
}

struct put {
	const struct metric_set *usable;
	bool has_all; /* of struct gpu_tally */
	uint64_t *value;
	struct metric_set *have;
};

static void put_add(const struct put *p, enum metric_id id, uint64_t value)
{
	if (!metric_has(p->usable, id))
		return;
	p->value[id] = (metric_has(p->have, id) ? p->value[id] : 0) + value;
	metric_put(p->have, id);
}

static void put_least(const struct put *p, enum metric_id id, uint64_t value)
{
	if (metric_has(p->usable, id) && metric_has(p->have, id) && p->value[id] < value)
		return;
	metric_drop(p->have, id);
	put_add(p, id, value);
}

static void device_put_now(const struct put *p, const struct gpu_device *now)
{
	if (now->has & GPU_BUSY)
		put_add(p, M_gpu_device_busy, now->busy_milli);
	if (now->has & GPU_MEMORY)
		put_add(p, M_gpu_device_memory, now->memory_bytes);
	if (now->has & GPU_POWER)
		put_add(p, M_gpu_power, now->power_mw);
	if (now->has & GPU_CLOCK)
		put_least(p, M_gpu_clock, now->clock_hz);
}

static void device_put_counters(const struct put *p, const struct gpu_held *h, uint32_t has)
{
	if (has & GPU_ENERGY)
		put_add(p, M_gpu_energy, h->energy_uj);
	if (has & GPU_THROTTLE)
		put_add(p, M_gpu_throttled, h->throttled_ns);
	if (has & GPU_ECC)
		put_add(p, M_gpu_ecc_errors, h->ecc_errors);
	if (has & GPU_XID)
		put_add(p, M_gpu_xid_errors, h->xid_errors);
}

static bool held_is_idle(const struct gpu_held *h, uint64_t now_ns, uint64_t idle_after_ns)
{
	return idle_after_ns && h->has & GPU_BUSY && now_ns >= h->worked_ns + idle_after_ns;
}

static void held_put(const struct gpu_held *h, const struct gpu_desk *d, uint64_t idle_after_ns,
		     const struct put *p)
{
	const struct gpu_known *k = &d->known[h->device];

	device_put_counters(p, h, k->now.has);
	put_add(p, M_gpu, h->busy_ns);
	put_add(p, M_gpu_memory_busy, h->memory_busy_ns);
	put_add(p, M_gpu_idle, h->idle_ns);
	if (k->is_there && (h->is_held || p->has_all))
		device_put_now(p, &k->now);
	if (!h->is_held)
		return;
	put_add(p, M_gpus_held, 1);
	put_add(p, M_gpus_used, h->used_milli);
	if (idle_after_ns)
		put_add(p, M_gpus_idle, held_is_idle(h, d->table->pass_ns, idle_after_ns));
	put_add(p, M_gpu_memory, h->memory_bytes);
}

/* A value is not known if one of its parts is not. @has is what is known of all uses. */
static void put_drop_unknown(uint32_t has, const struct put *p)
{
	if (!(has & GPU_MEMORY))
		metric_drop(p->have, M_gpu_memory);
	if (!(has & GPU_MEMORY_BUSY))
		metric_drop(p->have, M_gpu_memory_busy);
	if (has & GPU_BUSY)
		return;
	metric_drop(p->have, M_gpu);
	metric_drop(p->have, M_gpu_idle);
	metric_drop(p->have, M_gpus_used);
	metric_drop(p->have, M_gpus_idle);
}

static void put_none(const struct put *p, uint64_t idle_after_ns)
{
	put_add(p, M_gpu, 0);
	put_add(p, M_gpu_memory_busy, 0);
	put_add(p, M_gpu_idle, 0);
	put_add(p, M_gpus_held, 0);
	put_add(p, M_gpus_used, 0);
	put_add(p, M_gpu_memory, 0);
	if (idle_after_ns)
		put_add(p, M_gpus_idle, 0);
}

static int held_put_instance(const struct gpu_held *h, const struct gpu_desk *d,
			     const struct put *whole, uint64_t idle_after_ns, struct sample *smp)
{
	struct instance *at = sample_add_instance(smp, GPU_DIMENSION, d->known[h->device].now.name);
	struct put p = *whole;

	if (!at)
		return -ENOMEM;
	p.value = at->value;
	p.have = &at->have;
	held_put(h, d, idle_after_ns, &p);
	put_drop_unknown(h->is_held ? h->has : ~0U, &p);
	return 0;
}

int gpu_tally_put(const struct gpu_tally *g, const struct gpu_desk *d,
		  const struct metric_set *usable, uint64_t idle_after_ns, bool with_devices,
		  struct sample *smp)
{
	const struct put p = { usable, g->has_all, smp->value, &smp->have };
	uint32_t has = ~0U;
	int err = 0;

	if (!d->table || !d->is_fresh)
		return 0;
	put_none(&p, idle_after_ns);
	for (size_t i = 0; i < g->nr; i++) {
		held_put(&g->all[i], d, idle_after_ns, &p);
		has &= g->all[i].is_held ? g->all[i].has : ~0U;
	}
	put_drop_unknown(has, &p);
	for (size_t i = 0; with_devices && !err && i < g->nr; i++)
		err = held_put_instance(&g->all[i], d, &p, idle_after_ns, smp);
	return err;
}

static const struct {
	const char *key;
	size_t offset;
} kept_counters[] = {
	{ "busy_ns", offsetof(struct gpu_held, busy_ns) },
	{ "memory_busy_ns", offsetof(struct gpu_held, memory_busy_ns) },
	{ "idle_ns", offsetof(struct gpu_held, idle_ns) },
	{ "energy_uj", offsetof(struct gpu_held, energy_uj) },
	{ "throttled_ns", offsetof(struct gpu_held, throttled_ns) },
	{ "ecc_errors", offsetof(struct gpu_held, ecc_errors) },
	{ "xid_errors", offsetof(struct gpu_held, xid_errors) },
};
#define NR_KEPT (sizeof(kept_counters) / sizeof(*kept_counters))

void gpu_tally_keep(const struct gpu_tally *g, const struct gpu_desk *d, struct jsonw *j)
{
	jsonw_object(j, "gpus");
	for (size_t i = 0; i < g->nr; i++) {
		jsonw_object(j, d->known[g->all[i].device].now.name);
		for (size_t k = 0; k < NR_KEPT; k++)
			jsonw_uint(j, kept_counters[k].key,
				   *(const uint64_t *)((const char *)&g->all[i] +
						       kept_counters[k].offset));
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
}

int gpu_tally_resume(struct gpu_tally *g, struct gpu_desk *d, const json_t *o)
{
	const char *name;
	json_t *one;

	json_object_foreach((json_t *)o, name, one) {
		const uint32_t device = known_find(d, name);
		struct gpu_held *h = device < MAX_GPUS ? held_find(g, device) : NULL;

		if (!h)
			return -ENOMEM;
		for (size_t k = 0; k < NR_KEPT; k++)
			*(uint64_t *)((char *)h + kept_counters[k].offset) =
				(uint64_t)json_integer_value(
					json_object_get(one, kept_counters[k].key));
	}
	return 0;
}
