// SPDX-License-Identifier: BSD-2-Clause
#include "measure/pss.h"

#include "base/clock.h"
#include "base/memory.h"
#include "measure/task_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GUESS_NS_PER_1024 100000ULL

void pss_init(struct pss *p, uint64_t budget_ppm, uint64_t interval_ns)
{
	uint64_t most_ns = interval_ns > PSS_SAVED_NS ? interval_ns : PSS_SAVED_NS;

	*p = (struct pss){
		.budget_ppm = budget_ppm,
		.capacity_ns = (int64_t)(most_ns / 1000000 * budget_ppm),
		.ns_per_1024 = GUESS_NS_PER_1024,
	};
}

void pss_done(struct pss *p)
{
	free(p->spaces);
	*p = (struct pss){ 0 };
}

/* The oldest sharer is read, so that it is the same at each sample. */
static struct pss_space space_of(const struct drain_row *const *rows, size_t nr_sharers)
{
	const struct drain_row *r = rows[0];
	uint64_t resident;

	for (size_t i = 1; i < nr_sharers; i++)
		if (is_earlier(rows[i]->start_boot_ns, r->start_boot_ns))
			r = rows[i];
	resident = row_resident_pages(r);
	return (struct pss_space){
		.mm = r->mm,
		.serial = r->serial,
		.image = r->image,
		.pid = (pid_t)r->pid,
		.is_shared = nr_sharers > 1,
		.resident_bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE),
		.pages = resident + r->pages[RSS_SWAP],
	};
}

/* Copies to @now what is known from the last sample. @before advances. */
static void space_recall(const struct pss *p, size_t *before, struct pss_space *now)
{
	struct pss_space found;

	while (*before < p->nr_spaces && p->spaces[*before].mm < now->mm)
		(*before)++;
	if (*before == p->nr_spaces)
		return;
	found = p->spaces[*before];
	if (found.mm != now->mm || found.serial != now->serial || found.image != now->image)
		return;
	found.resident_bytes = now->resident_bytes;
	found.pages = now->pages;
	found.is_shared = now->is_shared;
	*now = found;
}

/* Renews the list of address spaces. Keeps what is known of those that still exist. */
static int spaces_renew(struct pss *p, const struct drain_row *const *rows, size_t nr_rows)
{
	struct pss_space *all = memory_calloc(nr_rows + 1, sizeof(*all));
	size_t n = 0, before = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0, next; i < nr_rows; i = next) {
		for (next = i + 1; next < nr_rows && rows[next]->mm == rows[i]->mm; next++)
			;
		if (!rows[i]->mm)
			continue;
		all[n] = space_of(&rows[i], next - i);
		space_recall(p, &before, &all[n++]);
	}
	free(p->spaces);
	p->spaces = all;
	p->nr_spaces = n;
	return 0;
}

/* An old value is capped at the present size: the address space may have shrunk. */
static uint64_t bytes_limit(uint64_t bytes, uint64_t limit)
{
	return bytes < limit ? bytes : limit;
}

void pss_sum(struct pss *p, const struct metric_set *usable, struct sample *smp)
{
	uint64_t pss = 0, uss = 0, unread = 0, known = 0;

	for (size_t i = 0; i < p->nr_spaces; i++) {
		const struct pss_space *s = &p->spaces[i];
		bool is_fresh = s->read_at == p->nr_samples;

		if (s->is_gone)
			continue;
		if (!s->has_value) {
			unread++;
			continue;
		}
		known++;
		p->cost.postponed += !is_fresh;
		pss += is_fresh ? s->pss_bytes : bytes_limit(s->pss_bytes, s->resident_bytes);
		uss += is_fresh ? s->uss_bytes : bytes_limit(s->uss_bytes, s->resident_bytes);
	}
	if (metric_has(usable, M_pss_unread))
		sample_set(smp, M_pss_unread, unread);
	if (unread && !known)
		return;
	if (metric_has(usable, M_pss))
		sample_set(smp, M_pss, pss);
	if (metric_has(usable, M_uss))
		sample_set(smp, M_uss, uss);
}

bool pss_sum_whole(const struct pss *p, uint64_t *bytes)
{
	uint64_t read = 0, resident = 0, unread = 0;

	for (size_t i = 0; i < p->nr_spaces; i++) {
		const struct pss_space *s = &p->spaces[i];

		resident += s->resident_bytes;
		if (s->has_value && s->read_at == p->nr_samples)
			read += s->pss_bytes;
		else
			unread += s->resident_bytes;
	}
	*bytes = read + unread;
	return p->nr_spaces && unread <= resident / 100;
}

bool pss_is_refused(const struct pss *p)
{
	for (size_t i = 0; i < p->nr_spaces; i++)
		if (p->spaces[i].is_refused)
			return true;
	return false;
}

#define OPEN_NS 30000ULL /* minimum cost of a read */
#define LEARN_PAGES 4096 /* smaller reads say little about the cost of a page */

/*
 * A read of smaps_rollup holds the mmap lock of the target, which pays for it, so reads have a
 * budget. It is a token bucket: a share of the elapsed time comes in, and up to the income of 30 s
 * is kept. The cost of a read is estimated from the last read of the same process, scaled by pages;
 * for a first read from the cost of a page elsewhere. The process that has waited longest is read
 * first, of equals the largest. While one waits that is too expensive, half of the income is
 * reserved for it, so that small and large processes do not starve each other. A read that would
 * empty a full bucket is skipped and reported. An address space is read once for all processes that
 * share it.
 */

static uint64_t less_opening(uint64_t ns)
{
	return ns > OPEN_NS ? ns - OPEN_NS : 0;
}

/* Uses its own last read if that was large enough, else the average cost of a page. */
static int64_t cost_estimate(const struct pss *p, const struct pss_space *s)
{
	double page_ns = (double)p->ns_per_1024 / 1024, cost_ns;

	if (s->read_at && s->read_pages >= LEARN_PAGES)
		page_ns = (double)less_opening(s->cost_ns) / (double)s->read_pages;
	cost_ns = OPEN_NS + (double)s->pages * page_ns;
	if (s->read_at && s->read_pages < LEARN_PAGES && cost_ns < (double)s->cost_ns)
		cost_ns = (double)s->cost_ns; /* many mappings of few pages */
	return cost_ns < 1e18 ? (int64_t)cost_ns : (int64_t)1e18;
}

static void cost_learn(struct pss *p, uint64_t pages, uint64_t took_ns)
{
	uint64_t now = pages ? less_opening(took_ns) * 1024 / pages : 0;

	if (pages >= LEARN_PAGES)
		p->ns_per_1024 = (p->ns_per_1024 * 3 + now) / 4;
}

static void space_skip(struct pss *p, struct pss_space *s, const char *reason)
{
	s->is_saving = false;
	s->has_value = false; /* an old, smaller value would be reported as its size */
	if (s->skip_is_reported)
		return;
	s->skip_is_reported = true;
	p->cost.skipped++;
	p->skipped(p->context, s->pid, reason);
}

static void space_skip_too_large(struct pss *p, struct pss_space *s, int64_t cost_ns)
{
	char reason[128];

	snprintf(reason, sizeof(reason),
		 "reading it would take %.3f s, but --pss allows %.3f s at a time",
		 (double)cost_ns / NSEC_PER_SEC, (double)p->capacity_ns / NSEC_PER_SEC);
	space_skip(p, s, reason);
}

/* Returns NULL if the process has ended or executed another program since the list was made. */
static struct pss_space *space_find(const struct pss *p, const struct pss_item *item)
{
	size_t from = 0, to = p->nr_spaces;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		struct pss_space *s = &p->spaces[middle];

		if (s->mm == item->mm)
			return s->serial == item->serial && s->image == item->image ? s : NULL;
		if (s->mm < item->mm)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

static void budget_charge(struct pss *p, const struct pss_item *item)
{
	p->budget_ns -= pss_item_charge(item);
	if (item->is_saved_for)
		p->saved_ns = 0;
	p->cost.ns_total += item->r.took_ns;
	if (item->r.took_ns > p->cost.ns_max)
		p->cost.ns_max = item->r.took_ns;
}

static void space_take(struct pss *p, struct pss_space *s, const struct pss_item *item)
{
	const uint64_t took_ns = item->r.took_ns;
	const bool has_ended = item->err == -ESRCH || item->err == -ENOENT;

	s->is_saving = false;
	s->is_gone = has_ended && !s->is_shared;
	s->is_refused = item->err && !has_ended;
	if (s->is_refused)
		space_skip(p, s, strerror(-item->err));
	if (item->err)
		return;
	s->cost_ns = s->read_at ? ((uint64_t)item->expected_ns + 3 * took_ns) / 4 : took_ns;
	s->read_at = p->nr_samples;
	s->read_pages = item->pages;
	s->has_value = true;
	s->pss_bytes = item->r.pss_bytes;
	s->uss_bytes = item->r.uss_bytes;
}

static void item_take(struct pss *p, const struct pss_item *item)
{
	struct pss_space *s = space_find(p, item);

	budget_charge(p, item);
	if (!item->err) {
		p->cost.reads++;
		cost_learn(p, item->pages, item->r.took_ns);
	}
	if (s)
		space_take(p, s, item);
}

/* Longest unread first; of equals the largest. */
static int by_turn(const void *a, const void *b)
{
	const struct pss_space *p = *(struct pss_space *const *)a,
			       *q = *(struct pss_space *const *)b;

	if (p->read_at != q->read_at)
		return p->read_at < q->read_at ? -1 : 1;
	return p->pages > q->pages ? -1 : p->pages < q->pages;
}

static struct pss_space **spaces_in_turn(const struct pss *p)
{
	struct pss_space **order = memory_calloc(p->nr_spaces + 1, sizeof(struct pss_space *));

	if (!order)
		return NULL;
	for (size_t i = 0; i < p->nr_spaces; i++)
		order[i] = &p->spaces[i];
	qsort(order, p->nr_spaces, sizeof(struct pss_space *), by_turn);
	return order;
}

static struct pss_space *space_saved_for(const struct pss *p)
{
	for (size_t i = 0; i < p->nr_spaces; i++)
		if (p->spaces[i].is_saving)
			return &p->spaces[i];
	return NULL;
}

/* Adds the income since the last sample, half of it to the reserve if there is one. */
static void pss_earn(struct pss *p, uint64_t now_ns)
{
	uint64_t passed_ns = p->last_ns ? now_ns - p->last_ns : 0;
	int64_t earned = (int64_t)(passed_ns / 1000 * p->budget_ppm / 1000);
	const struct pss_space *s = space_saved_for(p);

	p->last_ns = now_ns;
	p->budget_ns += earned;
	if (p->budget_ns > p->capacity_ns)
		p->budget_ns = p->capacity_ns;
	p->saved_ns = s ? p->saved_ns + earned / 2 : 0;
	if (s && p->saved_ns > cost_estimate(p, s))
		p->saved_ns = cost_estimate(p, s);
}

int pss_begin(struct pss *p, const struct drain_row *const *rows, size_t nr_rows, uint64_t now_ns)
{
	int err = spaces_renew(p, rows, nr_rows);

	p->nr_samples++;
	pss_earn(p, now_ns);
	return err;
}

static struct pss_item item_of(const struct pss_space *s, int64_t cost_ns)
{
	return (struct pss_item){
		.mm = s->mm,
		.serial = s->serial,
		.image = s->image,
		.pages = s->pages,
		.pid = s->pid,
		.expected_ns = cost_ns,
		.is_saved_for = s->is_saving,
	};
}

/* The list is done: saves up for the first item that the budget did not suffice for. */
static void list_end(struct pss *p, const struct pss_list *l)
{
	for (size_t i = 0; i < l->nr && !space_saved_for(p); i++) {
		struct pss_space *s = l->items[i].is_read ? NULL : space_find(p, &l->items[i]);

		if (s)
			s->is_saving = true;
	}
}

/* Returns false if the budget suffices for no item. */
static bool list_fill(struct pss *p, struct pss_list *l, struct pss_space **order)
{
	bool affords_one = false;

	for (size_t i = 0; i < p->nr_spaces; i++) {
		int64_t cost_ns = cost_estimate(p, order[i]);

		if (order[i]->is_refused)
			continue;
		if (cost_ns > p->capacity_ns) {
			space_skip_too_large(p, order[i], cost_ns);
			continue;
		}
		l->items[l->nr] = item_of(order[i], cost_ns);
		affords_one |= pss_list_affords(l, &l->items[l->nr++]);
	}
	return affords_one;
}

int pss_plan(struct pss *p, struct pss_list *list)
{
	struct pss_space **order = spaces_in_turn(p);

	*list = (struct pss_list){ .budget_ns = p->budget_ns, .saved_ns = p->saved_ns };
	if (!order)
		return -ENOMEM;
	list->items = memory_calloc(p->nr_spaces + 1, sizeof(*list->items));
	if (!list->items) {
		free(order);
		return -ENOMEM;
	}
	if (!list_fill(p, list, order)) {
		list_end(p, list);
		pss_list_done(list);
	}
	free(order);
	return 0;
}

bool pss_plan_all(struct pss *p, struct pss_list *list, bool is_urgent)
{
	struct pss_space **order = spaces_in_turn(p);
	int64_t cost_ns = 0;

	*list = (struct pss_list){ .budget_ns = INT64_MAX };
	list->items = order ? memory_calloc(p->nr_spaces + 1, sizeof(*list->items)) : NULL;
	for (size_t i = 0; list->items && i < p->nr_spaces && !order[i]->is_refused; i++) {
		list->items[i] = item_of(order[i], cost_estimate(p, order[i]));
		cost_ns += list->items[i].expected_ns;
		list->nr++;
	}
	free(order);
	if (list->items && list->nr == p->nr_spaces && (is_urgent || cost_ns <= p->budget_ns))
		return true;
	pss_list_done(list);
	return false;
}

void pss_take(struct pss *p, struct pss_list *list, size_t nr_done)
{
	if (list->nr_taken == nr_done)
		return;
	for (; list->nr_taken < nr_done; list->nr_taken++)
		if (list->items[list->nr_taken].is_read)
			item_take(p, &list->items[list->nr_taken]);
	if (nr_done == list->nr)
		list_end(p, list);
}
