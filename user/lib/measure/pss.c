// SPDX-License-Identifier: BSD-2-Clause
#include "measure/pss.h"

#include "base/clock.h"
#include "measure/task_rows.h"

#include <errno.h>
#include <stdlib.h>
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

/* Of processes that share it the oldest is read, so that it is the same one at each sample. */
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

/* An old value cannot be more than what the address space holds now: it may have shrunk. */
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

int pss_begin(struct pss *p, const struct drain_row *const *rows, size_t nr_rows, uint64_t now_ns)
{
	int err = spaces_renew(p, rows, nr_rows);

	p->nr_samples++;
	pss_earn(p, now_ns);
	return err;
}
