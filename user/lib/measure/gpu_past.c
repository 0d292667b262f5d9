// SPDX-License-Identifier: BSD-2-Clause
/* What each process has used of each GPU so far, and what the driver's accounts of it add. */
#include "base/clock.h"
#include "base/memory.h"
#include "measure/gpus.h"

#include <stdlib.h>

#define FORGET_NS (60 * NSEC_PER_SEC)
#define MOST_PASTS 65536

void gpu_pasts_done(struct gpu_pasts *p)
{
	free(p->all);
	*p = (struct gpu_pasts){ 0 };
}

/* Returns the place of the first past of @serial from @device on. */
static size_t past_place(const struct gpu_pasts *p, uint64_t serial, uint32_t device)
{
	size_t low = 0, high = p->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct gpu_past *at = &p->all[middle];

		if (at->serial < serial || (at->serial == serial && at->device < device))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct gpu_past *gpu_pasts_find(const struct gpu_pasts *p, uint64_t serial, size_t *nr)
{
	size_t first = past_place(p, serial, 0), end = first;

	while (end < p->nr && p->all[end].serial == serial)
		end++;
	*nr = end - first;
	return p->all ? &p->all[first] : NULL;
}

bool gpu_pasts_sum(const struct gpu_pasts *p, uint64_t serial, struct gpu_used *used)
{
	size_t nr;
	const struct gpu_past *past = gpu_pasts_find(p, serial, &nr);

	*used = (struct gpu_used){ 0 };
	for (size_t i = 0; i < nr; i++) {
		used->has |= past[i].has;
		used->busy_ns += past[i].busy_ns + past[i].more_busy_ns;
		used->memory_busy_ns += past[i].memory_busy_ns + past[i].more_memory_busy_ns;
		if (past[i].together_bytes > used->memory_peak_bytes)
			used->memory_peak_bytes = past[i].together_bytes;
		if (past[i].memory_peak_bytes > used->memory_peak_bytes)
			used->memory_peak_bytes = past[i].memory_peak_bytes;
	}
	return nr > 0;
}

static struct gpu_past *past_insert(struct gpu_pasts *p, size_t at, const struct gpu_step *s)
{
	struct gpu_past *all = p->all;
	size_t room = p->room ? 2 * p->room : 64;

	if (p->nr == p->room) {
		all = room <= MOST_PASTS ? memory_reallocarray(all, room, sizeof(*all)) : NULL;
		if (!all) {
			p->forgone++;
			return NULL;
		}
		p->all = all;
		p->room = room;
	}
	for (size_t i = p->nr++; i > at; i--)
		all[i] = all[i - 1];
	all[at] = (struct gpu_past){ .serial = s->serial, .device = s->device, .pid = s->pid };
	return &all[at];
}

void gpu_pasts_add(struct gpu_pasts *p, const struct gpu_step *s, uint64_t together_bytes,
		   uint64_t now_ns)
{
	size_t at = past_place(p, s->serial, s->device);
	struct gpu_past *past = at < p->nr ? &p->all[at] : NULL;

	if (!past || past->serial != s->serial || past->device != s->device)
		past = past_insert(p, at, s);
	if (!past)
		return;
	past->has |= s->has;
	past->busy_ns += s->busy_ns;
	past->memory_busy_ns += s->memory_busy_ns;
	past->seen_ns = now_ns;
	if (s->memory_bytes > past->memory_peak_bytes)
		past->memory_peak_bytes = s->memory_bytes;
	if (together_bytes > past->together_bytes)
		past->together_bytes = together_bytes;
}

void gpu_pasts_prune(struct gpu_pasts *p, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nr; i++)
		if (now_ns < p->all[i].seen_ns + FORGET_NS)
			p->all[kept++] = p->all[i];
	p->nr = kept;
}

/* Of processes that had the PID one after the other, the last one. */
static struct gpu_past *past_of_pid(const struct gpu_pasts *p, uint32_t pid, uint32_t device)
{
	struct gpu_past *found = NULL;

	for (size_t i = 0; i < p->nr; i++)
		if (p->all[i].pid == pid && p->all[i].device == device &&
		    (!found || p->all[i].seen_ns > found->seen_ns))
			found = &p->all[i];
	return found;
}

/* The account is of the whole life of the process: what is in it already is not added again. */
static void past_account(struct gpu_past *p, const struct gpu_ended *e)
{
	p->has_account = true;
	p->has |= e->has;
	if (e->has & GPU_BUSY && e->busy_ns > p->busy_ns)
		p->more_busy_ns = e->busy_ns - p->busy_ns;
	if (e->has & GPU_MEMORY_BUSY && e->memory_busy_ns > p->memory_busy_ns)
		p->more_memory_busy_ns = e->memory_busy_ns - p->memory_busy_ns;
	if (e->has & GPU_MEMORY && e->memory_peak_bytes > p->memory_peak_bytes)
		p->memory_peak_bytes = e->memory_peak_bytes;
}

void gpu_pasts_account(struct gpu_pasts *p, const struct gpu_table *t, const uint32_t *known)
{
	uint32_t from = p->nr_accounts;

	if (t->nr_ended < from || t->nr_ended - from > MAX_GPU_ENDED)
		from = t->nr_ended > MAX_GPU_ENDED ? t->nr_ended - MAX_GPU_ENDED : 0;
	for (; from < t->nr_ended; from++) {
		const struct gpu_ended *e = &t->ended[from % MAX_GPU_ENDED];
		struct gpu_past *past =
			e->device < t->nr_devices ? past_of_pid(p, e->pid, known[e->device]) : NULL;

		if (past && !past->has_account)
			past_account(past, e);
	}
	p->nr_accounts = t->nr_ended;
}

void gpu_pasts_put(struct gpu_pasts *p, const struct gpu_past *past)
{
	const struct gpu_step s = { .serial = past->serial };
	struct gpu_past *place = past_insert(p, past_place(p, past->serial, past->device), &s);

	if (place)
		*place = *past;
}
