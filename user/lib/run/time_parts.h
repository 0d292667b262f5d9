/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the time of threads went: their lifetimes, in parts of which no moment is in two. */
#ifndef RUN_TIME_PARTS_H
#define RUN_TIME_PARTS_H

#include "run/sample.h"

enum time_part {
	TIME_USER,
	TIME_SYSTEM,
	TIME_QUEUE,      /* runnable, waiting for a CPU */
	TIME_DISK,       /* asleep until block I/O is done */
	TIME_MEMORY,     /* getting memory, or pages that were dropped for lack of it */
	TIME_INTERRUPTS, /* on a CPU that served them */
	TIME_OTHER,      /* asleep for any other reason: locks, network, timers, children */
	NR_TIME_PARTS
};

struct time_parts {
	bool has[NR_TIME_PARTS]; /* what is not known is in TIME_OTHER */
	uint64_t total_ns;
	uint64_t ns[NR_TIME_PARTS]; /* their sum is the total */
};

/*
 * Sets @t from the counters @total of a run. False: the lifetimes of its threads, or their CPU
 * time, are not known, or are 0.
 *
 * The kernel's delays overlap. A moment counts as memory first: what is read again, as memory ran
 * short, would else be disk, and freeing and copying pages would be system time. Of delays that may
 * be within each other only the longer counts. So the memory part is a lower bound.
 */
bool time_parts_of(struct time_parts *t, const struct sample *total);
/*
 * Divides @whole among the parts as they are in @t, into @share: rounded so that the sum is @whole.
 */
void time_parts_divide(const struct time_parts *t, unsigned whole, unsigned share[NR_TIME_PARTS]);
/* "run queue"; the last one is "other" if waiting for disks is known, else "not running". */
const char *time_part_name(const struct time_parts *t, enum time_part part);

#endif
