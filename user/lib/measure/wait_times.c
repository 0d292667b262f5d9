// SPDX-License-Identifier: BSD-2-Clause
#include "measure/wait_times.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_SHARE 100 /* of the time */
#define BUDGET_FIRST_NS (2 * (int64_t)NSEC_PER_MSEC)
#define BUDGET_SAVED_NS (20 * (int64_t)NSEC_PER_MSEC) /* a sample is late by that */
#define LEAST_NS (NSEC_PER_MSEC / 10)                 /* less is kept for a later sample */

void wait_budget_earn(struct wait_budget *b, uint64_t now_ns)
{
	if (b->earned_ns)
		b->left_ns += (int64_t)((now_ns - b->earned_ns) / BUDGET_SHARE);
	else
		b->left_ns = BUDGET_FIRST_NS;
	if (b->left_ns > BUDGET_SAVED_NS)
		b->left_ns = BUDGET_SAVED_NS;
	b->earned_ns = now_ns;
}

void wait_times_done(struct wait_times *w)
{
	free(w->all);
	w->all = NULL;
	w->nr = 0;
}

static int by_serial(const void *a, const void *b)
{
	const struct wait_member *p = a, *q = b;

	return p->serial < q->serial ? -1 : p->serial > q->serial;
}

static int by_wait_turn(const void *a, const void *b)
{
	const struct wait_member *p = *(struct wait_member *const *)a,
				 *q = *(struct wait_member *const *)b;

	if (p->looked_ns != q->looked_ns)
		return is_earlier(p->looked_ns, q->looked_ns) ? -1 : 1;
	return by_serial(p, q);
}

/* Keeps what is known of @now from the last sample. @before advances. */
static void member_recall(const struct wait_times *w, size_t *before, struct wait_member *now)
{
	const struct drain_row *row = now->row;

	while (*before < w->nr && w->all[*before].serial < now->serial)
		(*before)++;
	if (*before == w->nr || w->all[*before].serial != now->serial)
		return;
	*now = w->all[*before];
	now->row = row;
}

int wait_times_begin(struct wait_times *w, const struct drain_row *const *rows, size_t nr,
		     uint64_t now_ns)
{
	struct wait_member *all = memory_calloc(nr + 1, sizeof(*all));
	size_t n = 0, before = 0;

	w->turn++;
	for (size_t i = 0; all && i < nr; i++)
		if (!rows[i]->end_boot_ns && rows[i]->pid)
			all[n++] = (struct wait_member){
				.serial = rows[i]->serial,
				.account = rows[i]->account,
				.looked_ns = is_earlier(rows[i]->start_boot_ns, now_ns)
						     ? rows[i]->start_boot_ns
						     : now_ns,
				.row = rows[i],
			};
	if (n)
		qsort(all, n, sizeof(*all), by_serial);
	for (size_t i = 0; i < n; i++)
		member_recall(w, &before, &all[i]);
	wait_times_done(w);
	w->all = all;
	w->nr = n;
	return all ? 0 : -ENOMEM;
}

struct wait_member **wait_times_order(const struct wait_times *w)
{
	struct wait_member **order = memory_calloc(w->nr + 1, sizeof(struct wait_member *));

	if (!order)
		return NULL;
	for (size_t i = 0; i < w->nr; i++)
		order[i] = &w->all[i];
	qsort(order, w->nr, sizeof(struct wait_member *), by_wait_turn);
	return order;
}

static uint64_t time_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* A record begins anew in another account. */
static void member_take_time(struct wait_member *m, const struct process_record *r)
{
	const uint64_t off_ns = time_less(r->lifetime, r->counters.cpu + r->counters.runqueue_wait);
	const bool has_moved =
		m->account.tree != r->account.tree || m->account.cgroup != r->account.cgroup;

	if (has_moved && off_ns < m->off_ns)
		m->off_ns = 0;
	m->account = r->account;
	m->waiting_ns += time_less(off_ns, m->off_ns);
	if (off_ns > m->off_ns)
		m->off_ns = off_ns;
}

void wait_times_look(struct wait_times *w, struct wait_member *m, const struct process_record *r,
		     unsigned threads, uint64_t now_ns)
{
	unsigned counts[NR_WAITED] = { 0 }, nr = 0;

	member_take_time(m, r);
	m->threads = threads;
	m->looked_ns = now_ns;
	if (m->waiting_ns < LEAST_NS)
		return;
	if (w->count((pid_t)m->row->pid, threads, w->turn, counts) <= 0)
		return;
	for (int i = 0; i < NR_WAITED; i++)
		nr += counts[i];
	if (!nr)
		return;
	for (int i = 0; i < NR_WAITED; i++)
		w->given[i] += m->waiting_ns / nr * counts[i];
	m->waiting_ns = 0;
}

/* Returns the time kept for live processes, an upper bound for those not examined now. */
static uint64_t wait_times_kept(const struct wait_times *w, uint64_t now_ns)
{
	uint64_t kept = 0;

	for (size_t i = 0; i < w->nr; i++) {
		const struct wait_member *m = &w->all[i];

		kept += m->waiting_ns;
		if (is_earlier(m->looked_ns, now_ns))
			kept += (now_ns - m->looked_ns) * (m->threads ? m->threads : 1);
	}
	return kept;
}

static uint64_t sum_of(const uint64_t ns[NR_WAITED])
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_WAITED; i++)
		sum += ns[i];
	return sum;
}

void wait_times_end(struct wait_times *w, uint64_t off_ns, uint64_t now_ns, bool is_last)
{
	const uint64_t sum = sum_of(w->given);
	uint64_t room;

	if (off_ns > w->off_ns)
		w->off_ns = off_ns;
	/* processes and accounts are read at slightly different moments */
	room = time_less(w->off_ns, sum_of(w->ns));
	for (int i = 0; i < NR_WAITED; i++)
		w->ns[i] += sum <= room
				    ? w->given[i]
				    : (uint64_t)((double)w->given[i] / (double)sum * (double)room);
	memset(w->given, 0, sizeof(w->given));
	room = time_less(w->off_ns, sum_of(w->ns));
	w->ns[W_wait_unseen] += is_last ? room : time_less(room, wait_times_kept(w, now_ns));
}

void wait_times_put(const struct wait_times *w, const struct metric_set *usable, struct sample *smp)
{
	for (int i = 0; i < NR_WAITED; i++)
		if (metric_has(usable, waited_metric((enum waited)i)))
			sample_set(smp, waited_metric((enum waited)i), w->ns[i]);
}
