/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cores in use over a time that is long enough to measure. Samples for marks, and the last one,
 * may come so soon after another that the metric is more of a tick than of the run.
 */
#ifndef MODEL_CORES_H
#define MODEL_CORES_H

#include "model/sample.h"

/* CPU time moves by ticks: over less time than one there is no telling how many cores were busy */
#define SHORTEST_FOR_CORES 5000000 /* ns */

/* All zero at the beginning of a run, @cpus aside. */
struct cores {
	unsigned cpus;    /* of the machine, the most there can be; 0: not known */
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
 * Takes the next sample. *@milli are the cores since the sample before; where that is too short a
 * time, since the one that is long enough, or together with the last time that was, so that no CPU
 * time falls out. False: there is none, or not yet.
 */
bool cores_add(struct cores *c, const struct sample *s, uint64_t *milli);

/*
 * The same of a total: by @elapsed_ns, when its drain began, @cpu_ns had been used. A drain commits
 * each task when it meets it; from one's begin to the next one's begin is the time between two
 * looks at a task. What is used while the drain goes on counts, too; so without @cpus the result
 * may exceed what there is. In the first 5 ms it is over what there is of them. False: no time has
 * passed.
 */
bool cores_read(struct cores *c, uint64_t elapsed_ns, uint64_t cpu_ns, uint64_t *milli);

#endif
