// SPDX-License-Identifier: BSD-2-Clause
#include "collect/memory.h"

#include "base/clock.h"

#include <stdlib.h>
#include <unistd.h>

static int by_mm(const void *a, const void *b)
{
	const struct drain_row *p = a, *q = b;

	return p->mm < q->mm ? -1 : p->mm > q->mm;
}

void memory_sum(struct drain_row *rows, size_t nr_rows, const struct metric_set *usable,
		struct sample *smp)
{
	uint64_t pages[NR_RSS] = { 0 }, vms = 0, tables = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t sums[NR_METRICS] = { 0 };

	if (nr_rows)
		qsort(rows, nr_rows, sizeof(*rows), by_mm);
	for (size_t i = 0; i < nr_rows; i++) {
		if (!rows[i].mm || (i && rows[i].mm == rows[i - 1].mm))
			continue;
		for (int k = 0; k < NR_RSS; k++)
			pages[k] += rows[i].pages[k];
		vms += rows[i].vms_pages;
		tables += rows[i].page_table_bytes;
	}
	sums[M_rss] = (pages[RSS_ANON] + pages[RSS_FILE] + pages[RSS_SHMEM]) * page;
	sums[M_rss_anon] = pages[RSS_ANON] * page;
	sums[M_rss_file] = pages[RSS_FILE] * page;
	sums[M_rss_shmem] = pages[RSS_SHMEM] * page;
	sums[M_swap] = pages[RSS_SWAP] * page;
	sums[M_page_tables] = tables;
	sums[M_vms] = vms * page;
#define MEMORY_METRIC(base, ...)                                                                   \
	if (metric_has(usable, M_##base))                                                          \
		sample_set(smp, M_##base, sums[M_##base]);
#include "bpfmon/metrics.def"
}

static void hold(struct memory_bound *b, uint64_t serial, uint64_t start_ns, uint64_t end_ns,
		 uint64_t pages)
{
	struct holding *all = b->holdings;

	if (!pages || end_ns < b->since_ns)
		return;
	if (is_earlier(start_ns, 0))
		start_ns = 0;
	if (b->nr_holdings == b->room_holdings) {
		size_t room = b->room_holdings ? b->room_holdings * 2 : 64;

		all = reallocarray(all, room, sizeof(*all));
		if (!all) {
			b->is_unknown = true;
			return;
		}
		b->holdings = all;
		b->room_holdings = room;
	}
	all[b->nr_holdings++] = (struct holding){ start_ns, end_ns, pages, serial };
}

/* One whose end was not seen may have lived until now. */
void memory_bound_ended(struct memory_bound *b, const struct process_record *r)
{
	hold(b, r->serial, r->start_boot_ns, r->end_boot_ns ? r->end_boot_ns : UINT64_MAX,
	     r->rss_bound_pages);
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

/* The largest sum of those that lived at the same time. */
static uint64_t largest_sum(struct holding *h, size_t n)
{
	const struct holding **ends = reallocarray(NULL, n, sizeof(*ends));
	uint64_t sum = 0, largest = 0;

	if (!ends)
		return 0;
	qsort(h, n, sizeof(*h), by_start);
	for (size_t i = 0; i < n; i++)
		ends[i] = &h[i];
	qsort(ends, n, sizeof(*ends), by_end);
	for (size_t i = 0, gone = 0; i < n; i++) {
		for (; ends[gone]->end_ns < h[i].start_ns; gone++)
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
	b->nr_before = b->nr_holdings;
}

/* Freed while the drain went on: it may have been met before. */
static bool came_meanwhile(const struct memory_bound *b, size_t nr_told, uint64_t serial)
{
	for (size_t i = b->nr_before; i < nr_told; i++)
		if (b->holdings[i].serial == serial)
			return true;
	return false;
}

void memory_bound_interval(struct memory_bound *b, const struct drain_row *rows, size_t nr_rows,
			   uint64_t drain_ns)
{
	size_t nr_told = b->nr_holdings;
	uint64_t largest;

	for (size_t i = 0; i < nr_rows; i++) {
		const struct drain_row *r = &rows[i];

		if (r->mm && i && r->mm == rows[i - 1].mm)
			continue; /* shared: sorted by memory_sum() */
		if (came_meanwhile(b, nr_told, r->serial))
			continue;
		hold(b, r->serial, r->start_boot_ns, r->end_boot_ns ? r->end_boot_ns : UINT64_MAX,
		     r->bound_pages);
	}
	if (b->nr_holdings) {
		largest = largest_sum(b->holdings, b->nr_holdings);
		b->is_unknown |= !largest;
		if (largest > b->peak_pages)
			b->peak_pages = largest;
	}
	b->nr_holdings = b->nr_before = 0;
	b->since_ns = drain_ns;
}

void memory_bound_done(struct memory_bound *b)
{
	free(b->holdings);
	*b = (struct memory_bound){ 0 };
}
