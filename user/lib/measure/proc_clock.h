/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU time by the kernel's task clock (perf events): of tasks that live, and of all that they start
 * from then on, whether anything waits for it or not. The kernel reads a clock at each switch
 * between these tasks, so it is for trees whose CPU time is not known otherwise.
 */
#ifndef MEASURE_PROC_CLOCK_H
#define MEASURE_PROC_CLOCK_H

#include "measure/proc_member.h"

struct proc_clock {
	bool is_tried;
	int *fds; /* owned; one of each task */
	size_t nr;
	uint64_t before_ns; /* what the tree had used when it was opened */
	uint64_t taken_ns;  /* what interrupts had taken, since boot */
	uint64_t most_ns;   /* the result, which never falls */
};

/*
 * Opens it for the tasks that the last look has met, ancestors first. Where the kernel does not
 * let an ordinary user do so (kernel.perf_event_paranoid, a filter), it counts nothing.
 * @before_ns: what the tree has used, as it was read before.
 */
void proc_clock_open(struct proc_clock *c, const struct proc_members *members, uint64_t before_ns,
		     struct proc_budget *b);
/*
 * At least so much the tree has used; 0: not known. Without what the kernel does to end a process,
 * as (on Linux 6.18) the event ends before the process gives its memory back; without what
 * programs used that the user may not trace (set-user-ID), where the kernel ends it, too.
 */
uint64_t proc_clock_read(struct proc_clock *c);
void proc_clock_done(struct proc_clock *c);

#endif
