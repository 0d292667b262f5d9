/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree whose processes cost time to read, without any process. */
#ifndef TESTS_UNIT_PSS_FIXTURE_H
#define TESTS_UNIT_PSS_FIXTURE_H

#include "base/clock.h"
#include "base/procstat.h"
#include "measure/pss.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_READS 100000
#define TWO_PERCENT 20000
#define TICK_NS (100 * NSEC_PER_MSEC)
#define PAGES_OF_4_GIB (1U << 20)

/* A /proc in which a read takes 100 ns a page and PSS is half of what is resident. */
struct fixture {
	struct pss pss;
	struct drain_row rows[400];
	const struct drain_row *by_memory[400];
	size_t nr_rows;
	uint64_t now_ns, fails_pid;
	int fails_with;
	pid_t reads[MAX_READS], skips[8];
	size_t nr_reads, nr_skips;
	char reason[128];
	struct sample smp;
};

static inline uint64_t pages_of(const struct fixture *f, pid_t pid)
{
	for (size_t i = 0; i < f->nr_rows; i++)
		if (f->rows[i].pid == (__u32)pid)
			return f->rows[i].pages[RSS_ANON];
	return 0;
}

static inline void fake_read(struct fixture *f, struct pss_item *item)
{
	uint64_t pages = pages_of(f, item->pid);

	if (f->nr_reads < MAX_READS)
		f->reads[f->nr_reads++] = item->pid;
	item->is_read = true;
	item->r = (struct pss_reading){ pages * 2048, pages * 1024, 30000 + pages * 100 };
	item->err = f->fails_pid == (uint64_t)item->pid ? f->fails_with : 0;
}

/* Does what the reader does, up to @most of the list. */
static inline void fake_reader(struct fixture *f, struct pss_list *l, size_t from, size_t most)
{
	for (size_t i = from; i < l->nr && i < most; i++) {
		if (!pss_list_affords(l, &l->items[i]))
			continue;
		fake_read(f, &l->items[i]);
		pss_list_charge(l, &l->items[i]);
	}
}

static inline void note_skip(void *context, pid_t pid, const char *reason)
{
	struct fixture *f = context;

	if (f->nr_skips < 8)
		f->skips[f->nr_skips++] = pid;
	snprintf(f->reason, sizeof(f->reason), "%s", reason);
}

static inline int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	pss_init(&f->pss, TWO_PERCENT, TICK_NS);
	f->pss.skipped = note_skip;
	f->pss.context = f;
	f->now_ns = NSEC_PER_SEC;
	*state = f;
	return 0;
}

static inline int unmake(void **state)
{
	struct fixture *f = *state;

	pss_done(&f->pss);
	free(f);
	return 0;
}

/* In the order of their address spaces, as in a slice. */
static inline struct drain_row *add_row(struct fixture *f, pid_t pid, uint64_t mm, uint64_t pages)
{
	struct drain_row *r = &f->rows[f->nr_rows++];

	*r = (struct drain_row){ .serial = (uint64_t)pid, .image = 1, .mm = mm, .pid = (__u32)pid };
	r->start_boot_ns = (uint64_t)pid;
	r->pages[RSS_ANON] = pages;
	return r;
}

static inline void add(struct fixture *f, pid_t pid, uint64_t pages)
{
	add_row(f, pid, (uint64_t)pid * 64, pages);
}

static inline void sample_begin(struct fixture *f)
{
	for (size_t i = 0; i < f->nr_rows; i++)
		f->by_memory[i] = &f->rows[i];
	assert_int_equal(pss_begin(&f->pss, f->by_memory, f->nr_rows, f->now_ns), 0);
	f->now_ns += TICK_NS;
}

/* The sums, as they are known now, are in @f->smp. */
static inline void sample_end(struct fixture *f)
{
	struct metric_set all;

	metric_set_all(&all);
	sample_reset(&f->smp);
	pss_sum(&f->pss, &all, &f->smp);
}

static inline void tick(struct fixture *f, unsigned times)
{
	for (; times; times--) {
		struct pss_list list;

		sample_begin(f);
		assert_int_equal(pss_plan(&f->pss, &list), 0);
		fake_reader(f, &list, 0, list.nr);
		pss_take(&f->pss, &list, list.nr);
		pss_list_done(&list);
		sample_end(f);
	}
}

static inline size_t reads_of(const struct fixture *f, pid_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nr_reads; i++)
		n += f->reads[i] == pid;
	return n;
}

static inline void assert_budget_kept(const struct fixture *f)
{
	uint64_t passed_ns = f->now_ns - NSEC_PER_SEC;

	assert_true(f->pss.cost.ns_total <= passed_ns / 1000000 * TWO_PERCENT);
}

#define PSS_TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)

#endif
