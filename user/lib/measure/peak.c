// SPDX-License-Identifier: BSD-2-Clause
#include "measure/peak.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The upper bound of the peak of a tree. Each process that held memory between two drains has a
 * start, an end and its largest high-water mark, the one inherited by fork included. The end is the
 * time when its memory had been freed: the hook `exit_mmap` for its last task, else its free event.
 * A sweep over these intervals finds the largest sum of those that overlap. Processes that share an
 * address space count once, with their largest mark. A process that a drain missed although it was
 * alive is added to the earlier intervals. If a mark is too low there is no upper bound.
 */

static void holdings_put(struct memory_bound *b, struct holdings *to, const struct holding *h)
{
	size_t room = to->room ? to->room * 2 : 64;
	struct holding *all = to->all;

	if (to->nr == to->room) {
		all = memory_reallocarray(all, room, sizeof(*all));
		if (!all) {
			b->is_unknown = true;
			return;
		}
		to->all = all;
		to->room = room;
	}
	all[to->nr++] = *h;
}

static void holding_add(struct memory_bound *b, const struct holding *h)
{
	holdings_put(b, &b->held, h);
}

/*
 * Carries over processes whose record came before the drain was read but that were freed after the
 * drain began.
 */
static void holdings_carry(struct memory_bound *b, uint64_t drain_ns)
{
	for (size_t i = 0; i < b->held.nr; i++) {
		struct holding h = b->held.all[i];

		h.is_carried = true;
		if (h.has_record && h.end_ns >= drain_ns)
			holdings_put(b, &b->carried, &h);
	}
}

static void holdings_begin_with_carried(struct memory_bound *b)
{
	struct holdings spare = b->held;

	b->held = b->carried;
	b->carried = spare;
	b->carried.nr = 0;
}

/* A process holds memory until its release is reported, which is after its exit. */
static uint64_t end_of(uint64_t released_ns)
{
	return released_ns ? released_ns : UINT64_MAX;
}

/* In a time namespace, older processes have start times below 0. */
static uint64_t start_of(uint64_t born_ns, uint64_t joined_ns)
{
	uint64_t start_ns = joined_ns ? joined_ns : born_ns;

	return is_earlier(start_ns, 0) ? 0 : start_ns;
}

static uint64_t later_of(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

void memory_bound_ended(struct memory_bound *b, const struct process_record *r)
{
	const struct holding h = {
		.start_ns = start_of(r->start_boot_ns, r->joined_boot_ns),
		.end_ns = end_of(r->released_boot_ns),
		.pages = r->rss_bound_pages,
		.serial = r->serial,
		.mm = r->mm,
		.shares = r->flags & PROCESS_SHARES,
		.has_record = true,
	};

	b->mark_fell |= r->mark_fell;
	holding_add(b, &h);
}

static int by_start(const void *a, const void *b)
{
	const struct holding *p = a, *q = b;

	return p->start_ns < q->start_ns ? -1 : p->start_ns > q->start_ns;
}

static int by_end(const void *a, const void *b)
{
	const struct holding *const *p = a, *const *q = b;

	return (*p)->end_ns < (*q)->end_ns ? -1 : (*p)->end_ns > (*q)->end_ns;
}

/* Returns the largest sum of holdings at one time; 0: out of memory. */
static uint64_t largest_sum(struct holding *h, size_t n)
{
	const struct holding **ends = memory_reallocarray(NULL, n, sizeof(*ends));
	uint64_t sum = 0, largest = 0;

	if (!ends)
		return 0;
	qsort(h, n, sizeof(*h), by_start);
	for (size_t i = 0; i < n; i++)
		ends[i] = &h[i];
	qsort(ends, n, sizeof(*ends), by_end);
	for (size_t i = 0, gone = 0; i < n; i++) {
		for (; gone < n && ends[gone]->end_ns < h[i].start_ns; gone++)
			sum -= ends[gone]->pages;
		sum += h[i].pages;
		if (sum > largest)
			largest = sum;
	}
	free(ends);
	return largest;
}

void memory_bound_drain(struct memory_bound *b)
{
	b->nr_before = b->held.nr;
}

/* Returns true if the record came during the drain, which may have met the process before. */
static bool record_came_during_drain(const struct memory_bound *b, size_t nr_recorded,
				     uint64_t serial)
{
	for (size_t i = b->nr_before; i < nr_recorded; i++)
		if (b->held.all[i].serial == serial)
			return true;
	return false;
}

static void holding_add_row(struct memory_bound *b, const struct drain_row *r)
{
	const struct holding h = {
		.start_ns = start_of(r->start_boot_ns, r->joined_boot_ns),
		.end_ns = end_of(r->released_boot_ns),
		.pages = r->bound_pages,
		.serial = r->serial,
		.mm = r->used_mm,
		.shares = r->flags & ROW_SHARES,
	};

	b->mark_fell |= r->flags & ROW_MARK_FELL;
	holding_add(b, &h);
}

/*
 * Adds processes that the last drain should have met but did not to the sums of earlier intervals.
 * Removes those freed before this interval.
 */
static void holdings_filter(struct memory_bound *b, const struct rows *drain)
{
	uint64_t missed_last = 0, missed_ever = 0;
	size_t n = 0;

	for (size_t i = 0; i < b->held.nr; i++) {
		const struct holding *h = &b->held.all[i];

		if (h->start_ns < b->since_ns && !h->is_carried &&
		    !rows_met_before(drain, h->serial))
			*(h->start_ns < b->before_ns ? &missed_ever : &missed_last) += h->pages;
		if (h->pages && h->end_ns >= b->since_ns)
			b->held.all[n++] = *h;
	}
	b->held.nr = n;
	b->peak_pages += missed_ever;
	if (b->last_pages + missed_last + missed_ever > b->peak_pages)
		b->peak_pages = b->last_pages + missed_last + missed_ever;
}

/* Within an address space, processes that own it come before those born into it. */
static int by_space(const void *a, const void *b)
{
	const struct holding *p = a, *q = b;

	if (p->mm != q->mm)
		return p->mm < q->mm ? -1 : 1;
	if (p->shares != q->shares)
		return p->shares - q->shares;
	return p->start_ns < q->start_ns ? -1 : p->start_ns > q->start_ns;
}

static void holding_unite(struct holding *to, const struct holding *h)
{
	if (h->start_ns < to->start_ns)
		to->start_ns = h->start_ns;
	to->end_ns = later_of(to->end_ns, h->end_ns);
	if (h->pages > to->pages)
		to->pages = h->pages;
}

/*
 * Merges the @nr holdings at one address if they are one address space: the process that has it
 * from fork or exec and those born into it hold it once, at most the largest of them. Not merged if
 * two have it from fork or exec, one after the other, because the sharers could be of either; or if
 * a sharer is older than the owner: it shared with another.
 */
static size_t unite_sharers(struct holding *h, size_t nr)
{
	size_t origins = 0;

	while (origins < nr && !h[origins].shares)
		origins++;
	if (!h->mm || origins > 1)
		return nr;
	for (size_t i = origins; origins && i < nr; i++)
		if (h[i].start_ns < h->start_ns)
			return nr;
	for (size_t i = 1; i < nr; i++)
		holding_unite(h, &h[i]);
	return 1;
}

static size_t merge_sharers(struct holding *h, size_t nr)
{
	size_t n = 0, left;

	if (nr)
		qsort(h, nr, sizeof(*h), by_space);
	for (size_t i = 0, next; i < nr; i = next) {
		for (next = i + 1; next < nr && h[next].mm == h[i].mm; next++)
			;
		left = unite_sharers(&h[i], next - i);
		memmove(&h[n], &h[i], left * sizeof(*h));
		n += left;
	}
	return n;
}

/*
 * Returns the RSS sum of a sample of these rows. The bound must not be below it: the drain reads
 * one process after the other, and a mark read meanwhile may be a batch below what the drain finds.
 */
static uint64_t rows_resident(const struct drain_row *const *rows, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		if (rows[i]->mm && !(i && rows[i]->mm == rows[i - 1]->mm))
			sum += row_resident_pages(rows[i]);
	return sum;
}

void memory_bound_interval(struct memory_bound *b, const struct drain_row *const *rows,
			   size_t nr_rows, const struct rows *drain, uint64_t drain_ns)
{
	size_t nr_recorded = b->held.nr, n;
	uint64_t largest = 0, sampled = rows_resident(rows, nr_rows);

	for (size_t i = 0; i < nr_rows; i++)
		if (!record_came_during_drain(b, nr_recorded, rows[i]->serial))
			holding_add_row(b, rows[i]);
	holdings_filter(b, drain);
	holdings_carry(b, drain_ns);
	n = merge_sharers(b->held.all, b->held.nr);
	if (n) {
		largest = largest_sum(b->held.all, n);
		b->is_unknown |= !largest;
	}
	if (sampled > largest)
		largest = sampled;
	if (largest > b->peak_pages)
		b->peak_pages = largest;
	b->last_pages = largest;
	b->nr_before = 0;
	b->before_ns = b->since_ns;
	b->since_ns = drain_ns;
	holdings_begin_with_carried(b);
}

void memory_bound_report(const struct memory_bound *b, bool reads_rss, struct summary *sum)
{
	sum->marks_reset = b->mark_fell;
	if (!reads_rss || b->is_unknown || b->mark_fell)
		return;
	sum->has_rss_peak_upper = true;
	sum->rss_peak_upper_bytes = b->peak_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void memory_bound_done(struct memory_bound *b)
{
	free(b->held.all);
	free(b->carried.all);
	*b = (struct memory_bound){ 0 };
}

/*
 * Holders of the exact peak (bpf/peak.bpf.c). A new peak only increments an epoch. An entry of an
 * older epoch copies its size to `at_peak` before its first change. At the end, an entry of the
 * newest epoch held `at_peak`; any other still holds what it held then. The record of a process
 * that ends carries its share and epoch; shares of older epochs are dropped here.
 */

static void shares_clear(struct exact_peak *x)
{
	for (size_t i = 0; i < x->nr; i++)
		free(x->shares[i].holder.exe);
	x->nr = 0;
}

static int share_add(struct exact_peak *x, const struct process_record *r, const struct process *p,
		     uint64_t mm)
{
	struct share *s = x->shares;

	if (x->nr == x->room) {
		size_t room = x->room ? x->room * 2 : 16;

		s = memory_reallocarray(s, room, sizeof(*s));
		if (!s)
			return -ENOMEM;
		x->shares = s;
		x->room = room;
	}
	s = &x->shares[x->nr++];
	*s = (struct share){ .epoch = r->share_epoch, .serial = r->serial, .mm = mm };
	s->holder.pid = p->pid;
	s->holder.rss_bytes = r->share_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	s->holder.exe = p->exe ? memory_strdup(p->exe) : NULL;
	memcpy(s->holder.comm, p->comm, sizeof(s->holder.comm));
	return 0;
}

int exact_peak_ended(struct exact_peak *x, const struct process_record *r, const struct process *p)
{
	if (!r->share_pages || r->share_epoch < x->epoch)
		return 0;
	if (r->share_epoch > x->epoch)
		shares_clear(x);
	x->epoch = r->share_epoch;
	return share_add(x, r, p, 0);
}

int exact_peak_left(struct exact_peak *x, const struct process_record *r, const struct process *p,
		    uint64_t mm)
{
	return share_add(x, r, p, mm);
}

struct finish {
	struct exact_peak *x;
	struct tree_peak peak;
	struct holders *holders;
};

/* Adds a live address space to the process that uses it, or used it last. */
static void space_add(void *context, uint64_t mm, const struct mm_entry *e)
{
	struct finish *f = context;
	uint64_t pages = e->epoch == f->peak.epoch ? e->at_peak : e->pages;
	uint64_t bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	struct holder unknown = { .comm = "?", .rss_bytes = bytes };

	if (!pages)
		return;
	for (size_t i = 0; i < f->x->nr; i++) {
		struct share *s = &f->x->shares[i];

		if (e->users ? s->mm == mm : s->serial == e->serial) {
			s->holder.rss_bytes += bytes;
			return;
		}
	}
	holders_add(f->holders, &unknown);
}

void exact_peak_finish(struct exact_peak *x, const struct tracker *t, uint64_t start_ns,
		       struct summary *s)
{
	struct finish f = { .x = x, .holders = &s->holders };

	if (tracker_peak(t, &f.peak) || !f.peak.peak_pages)
		return;
	s->has_rss_peak_exact = true;
	s->rss_peak_exact_bytes = f.peak.peak_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	s->rss_peak_exact_elapsed_ns = f.peak.peak_ns > start_ns ? f.peak.peak_ns - start_ns : 0;
	for (size_t i = 0; i < x->nr; i++)
		if (x->shares[i].epoch != f.peak.epoch) /* of an earlier peak */
			x->shares[i].holder.rss_bytes = 0;
	tracker_each_mm(t, space_add, &f);
	for (size_t i = 0; i < x->nr; i++)
		if (x->shares[i].holder.rss_bytes)
			holders_add(&s->holders, &x->shares[i].holder);
}

void exact_peak_done(struct exact_peak *x)
{
	shares_clear(x);
	free(x->shares);
	*x = (struct exact_peak){ 0 };
}
