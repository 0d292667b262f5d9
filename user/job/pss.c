// SPDX-License-Identifier: BSD-2-Clause
#include "job/pss.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPEN_NS 30000ULL /* the least that a read costs */
#define GUESS_NS_PER_1024 100000ULL
#define LEARN_PAGES 4096 /* the cost of smaller ones says little about that of a page */

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

/* Of processes that share it the oldest is read, so that it is the same one at each sample. */
static struct pss_space space_of(const struct drain_row *const *rows, size_t nr_sharers)
{
	const struct drain_row *r = rows[0];
	uint64_t resident;

	for (size_t i = 1; i < nr_sharers; i++)
		if (is_earlier(rows[i]->start_boot_ns, r->start_boot_ns))
			r = rows[i];
	resident = r->pages[RSS_FILE] + r->pages[RSS_ANON] + r->pages[RSS_SHMEM];
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

/* Copies to @now what is known of it if it was there at the last sample; @before advances. */
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

/* Renews the list of address spaces: keeps what is known of those that still exist. */
static int spaces_renew(struct pss *p, const struct drain_row *const *rows, size_t nr_rows)
{
	struct pss_space *all = calloc(nr_rows + 1, sizeof(*all));
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

static uint64_t less_opening(uint64_t ns)
{
	return ns > OPEN_NS ? ns - OPEN_NS : 0;
}

/* From its own last read, if that was large enough; else from the average cost of a page. */
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

static void cost_learn(struct pss *p, const struct pss_space *s, uint64_t took_ns)
{
	uint64_t now = s->pages ? less_opening(took_ns) * 1024 / s->pages : 0;

	if (s->pages >= LEARN_PAGES)
		p->ns_per_1024 = (p->ns_per_1024 * 3 + now) / 4;
}

static void space_skip(struct pss *p, struct pss_space *s, const char *reason)
{
	s->is_saving = false;
	s->has_value = false; /* an old, smaller value would be reported as its size */
	if (s->is_told)
		return;
	s->is_told = true;
	p->cost.skipped++;
	p->skipped(p->context, s->pid, reason);
}

static void space_skip_too_large(struct pss *p, struct pss_space *s, int64_t cost_ns)
{
	char reason[128];

	snprintf(reason, sizeof(reason),
		 "reading it would take %.3f s, and --pss allows %.3f s at once",
		 (double)cost_ns / NSEC_PER_SEC, (double)p->capacity_ns / NSEC_PER_SEC);
	space_skip(p, s, reason);
}

static void space_read(struct pss *p, struct pss_space *s, int64_t expected_ns)
{
	struct pss_reading r = { 0 };
	int err = p->read(p->context, s->pid, (uint64_t)expected_ns, &r);

	p->budget_ns -= (int64_t)r.took_ns;
	/* budget that was saved up but not needed would come upon the next reads in a burst */
	if (s->is_saving && (int64_t)r.took_ns < expected_ns)
		p->budget_ns -= expected_ns - (int64_t)r.took_ns;
	s->is_saving = false;
	p->cost.ns_total += r.took_ns;
	if (r.took_ns > p->cost.ns_max)
		p->cost.ns_max = r.took_ns;
	s->is_gone = (err == -ESRCH || err == -ENOENT) && !s->is_shared;
	s->is_refused = err && err != -ESRCH && err != -ENOENT;
	if (s->is_refused)
		space_skip(p, s, strerror(-err));
	if (err)
		return;
	p->cost.reads++;
	cost_learn(p, s, r.took_ns);
	s->cost_ns = s->read_at ? ((uint64_t)expected_ns + 3 * r.took_ns) / 4 : r.took_ns;
	s->read_at = p->nr_samples;
	s->read_pages = s->pages;
	s->has_value = true;
	s->pss_bytes = r.pss_bytes;
	s->uss_bytes = r.uss_bytes;
}

/* The one not read for the longest time first; of equals, the largest. */
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
	struct pss_space **order = calloc(p->nr_spaces + 1, sizeof(struct pss_space *));

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

/*
 * While an address space waits because its read costs more than the budget has, half of the income
 * is saved for it: so it is read, if seldom, in spite of the others, and they in spite of it.
 */
static void budget_earn(struct pss *p, uint64_t now_ns)
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

static void spaces_read(struct pss *p, struct pss_space **order)
{
	struct pss_space *waits = NULL;

	for (size_t i = 0; i < p->nr_spaces; i++) {
		struct pss_space *s = order[i];
		int64_t cost_ns = cost_estimate(p, s);

		if (s->is_refused)
			continue;
		if (cost_ns > p->capacity_ns) {
			space_skip_too_large(p, s, cost_ns);
		} else if (cost_ns <= p->budget_ns - (s->is_saving ? 0 : p->saved_ns)) {
			if (s->is_saving)
				p->saved_ns = 0;
			space_read(p, s, cost_ns);
		} else {
			p->cost.postponed += s->has_value;
			waits = waits ? waits : s;
		}
	}
	if (waits && !space_saved_for(p))
		waits->is_saving = true;
}

/* An old value cannot be more than what the address space holds now: it may have shrunk. */
static uint64_t bytes_limit(uint64_t bytes, uint64_t limit)
{
	return bytes < limit ? bytes : limit;
}

static void spaces_sum(const struct pss *p, const struct metric_set *usable, struct sample *smp)
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

int pss_sample(struct pss *p, const struct drain_row *const *rows, size_t nr_rows, uint64_t now_ns,
	       const struct metric_set *usable, struct sample *smp)
{
	struct pss_space **order;
	int err = spaces_renew(p, rows, nr_rows);

	order = err ? NULL : spaces_in_turn(p);
	if (!order)
		return -ENOMEM;
	p->nr_samples++;
	budget_earn(p, now_ns);
	spaces_read(p, order);
	free(order);
	spaces_sum(p, usable, smp);
	return 0;
}
