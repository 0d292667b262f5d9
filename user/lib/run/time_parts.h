/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides the lifetimes of threads into parts that do not overlap. */
#ifndef RUN_TIME_PARTS_H
#define RUN_TIME_PARTS_H

#include "run/sample.h"

enum time_part {
	TIME_USER,
	TIME_SYSTEM,
	TIME_QUEUE,      /* runnable, waiting for a CPU */
	TIME_DISK,       /* sleeping until block I/O completes */
	TIME_MEMORY,     /* allocating memory, or reading back pages that were reclaimed */
	TIME_INTERRUPTS, /* on a CPU that served interrupts */
	TIME_OTHER,      /* sleeping for another reason: locks, network, timers, children */
	NR_TIME_PARTS
};

struct time_parts {
	bool has[NR_TIME_PARTS]; /* an unknown part is included in TIME_OTHER */
	uint64_t total_ns;
	uint64_t ns[NR_TIME_PARTS]; /* their sum is total_ns */
};

/*
 * Computes @t from the counters @total of a run. Returns false if lifetimes or CPU time of its
 * threads are unknown or 0.
 *
 * The kernel's delays overlap. A moment counts as memory first: otherwise reading back reclaimed
 * pages would count as disk, and freeing and copying pages as system time. Of delays that may be
 * nested only the longer one counts, so that the memory part is a lower bound.
 */
bool time_parts_of(struct time_parts *t, const struct sample *total);
/* Divides @whole in proportion to the parts of @t into @share, rounded to the same sum. */
void time_parts_divide(const struct time_parts *t, unsigned whole, unsigned share[NR_TIME_PARTS]);
/* Returns "run queue" etc.; the last part is "not running" if waiting for disks is unknown. */
const char *time_part_name(const struct time_parts *t, enum time_part part);

#endif
