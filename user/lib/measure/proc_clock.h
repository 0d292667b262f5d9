/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU time by the kernel's task clock (perf events), of live tasks and all that they start later,
 * whether anything waits for these or not. The kernel reads a clock at each switch between such
 * tasks, so this is only for trees whose CPU time is not known otherwise.
 */
#ifndef MEASURE_PROC_CLOCK_H
#define MEASURE_PROC_CLOCK_H

#include "measure/proc_member.h"

struct proc_clock {
	bool is_tried;
	int *fds; /* owned; one per task */
	size_t nr;
	uint64_t before_ns; /* CPU time of the tree when the events were opened */
	uint64_t taken_ns;  /* interrupt and steal time since boot at that moment */
	uint64_t most_ns;   /* the largest result so far; results never fall */
};

/*
 * Opens events for the tasks that the last scan found, ancestors first. Counts nothing where an
 * ordinary user may not (kernel.perf_event_paranoid, a seccomp filter). @before_ns: what the tree
 * has used so far.
 */
void proc_clock_open(struct proc_clock *c, const struct proc_members *members, uint64_t before_ns,
		     struct proc_budget *b);
/*
 * Returns a lower bound of the tree's CPU time, or 0 if unknown. It lacks the time for tearing down
 * a process (on Linux 6.18 the event ends before the memory is freed), and that of programs the
 * user may not trace (set-user-ID), at which the kernel ends the event.
 */
uint64_t proc_clock_read(struct proc_clock *c);
void proc_clock_done(struct proc_clock *c);

#endif
