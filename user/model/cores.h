/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cores in use over a time that is long enough to tell. Samples for marks, and the last one,
 * may come so soon after another that the metric says more of a tick than of the run.
 */
#ifndef MODEL_CORES_H
#define MODEL_CORES_H

#include "model/sample.h"

/* CPU time moves by ticks: over less time than one there is no telling how many cores were busy */
#define SHORTEST_FOR_CORES 5000000 /* ns */

/* All zero at the beginning of a run. */
struct cores {
	uint64_t at_ns;   /* of the sample before */
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

#endif
