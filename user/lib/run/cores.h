/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cores in use over a time that is long enough to measure. Samples for marks, and the last one,
 * may come so soon after another that the metric is more of a tick than of the run.
 */
#ifndef RUN_CORES_H
#define RUN_CORES_H

#include "run/sample.h"

/* CPU time advances by ticks: over a shorter time the number of busy cores cannot be measured */
#define SHORTEST_FOR_CORES 5000000 /* ns */

/* All zero at the beginning of a run, except for @cpus. */
struct cores {
	unsigned cpus;    /* of the machine, an upper limit; 0: not known */
	uint64_t at_ns;   /* of the sample before */
	uint64_t cpu_ns;  /* all CPU time by then */
	uint64_t from_ns; /* since when @busy counts: the end of the last time that was long enough
			   */
	uint64_t before_ns; /* when that began */
	double busy;        /* thousandths of a core, times ns */
	double busy_before; /* of the time from @before_ns to @from_ns */
	bool has_before;
};

/*
 * Takes the next sample. *@milli are the cores since the sample before; if that is too short a
 * time, since @from_ns; if that is, too, since @before_ns, so that no CPU time is left out. False:
 * there is no value, or not yet.
 */
bool cores_add(struct cores *c, const struct sample *s, uint64_t *milli);

/*
 * The same for a total: by @elapsed_ns, when its drain began, @cpu_ns had been used. A drain
 * commits each task when it meets it: the time between two commits of a task is about that from the
 * beginning of one drain to that of the next. What is used during a drain counts, too: without
 * @cpus the result may exceed the cores of the machine. In the first 5 ms it is over the time since
 * the sample before. False: no time has passed.
 */
bool cores_read(struct cores *c, uint64_t elapsed_ns, uint64_t cpu_ns, uint64_t *milli);

#endif
