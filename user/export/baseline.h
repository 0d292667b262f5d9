/* SPDX-License-Identifier: BSD-2-Clause */
/* What the processes of an attachment had used before it: formats that count from their start. */
#ifndef EXPORT_BASELINE_H
#define EXPORT_BASELINE_H

#include "export/export.h"

struct baseline {
	uint64_t value[NR_METRICS]; /* counters; 0: nothing, or not known */
	uint64_t age_ns; /* of the oldest process, when the run began; 0: it has no record yet */
};

/* All of it is 0 where a command was run. Errors are those of source_each(). */
int baseline_read(struct baseline *b, struct exporter *e);
/* The values alone, which need only the meta. */
void baseline_read_counters(struct baseline *b, const struct exporter *e);

#endif
