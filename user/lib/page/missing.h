/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples that are missing because the collector did not get a CPU in time: the events
 * "late_ticks", as one strip and one sentence.
 */
#ifndef PAGE_MISSING_H
#define PAGE_MISSING_H

#include "base/json.h"

#include <jansson.h>
#include <stdbool.h>

/* Times are in seconds since the start of the run. */
struct missing_part {
	double from, to;
	uint64_t samples;
};

struct report_missing {
	struct missing_part *list; /* owned; in time order */
	size_t nr;
	uint64_t samples; /* of all parts */
};

void missing_done(struct report_missing *m);
/*
 * Adds an event, if it is about missing samples (*@is_taken). @interval is that of samples, in
 * seconds. Returns 0 or -ENOMEM.
 */
int missing_add(struct report_missing *m, const json_t *event, double interval, bool *is_taken);
/*
 * Writes "missing":{"text":...,"samples":...,"share":...,"from":[...],"to":[...],"counts":[...]},
 * or nothing if none is missing. @there are the samples of the run, @wall is its seconds.
 */
void missing_write(const struct report_missing *m, uint64_t there, double wall, struct jsonw *j);

#endif
