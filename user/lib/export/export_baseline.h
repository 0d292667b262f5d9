/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes had used before the attachment: for formats that count from their start. */
#ifndef EXPORT_EXPORT_BASELINE_H
#define EXPORT_EXPORT_BASELINE_H

#include "export/export.h"

struct baseline {
	uint64_t value[NR_METRICS]; /* counters; 0: nothing, or not known */
	uint64_t age_ns; /* of the oldest process, when the run began; 0: it has no record yet */
};

/* Reads counters and age; both are 0 where a command was run. Errors are those of source_each(). */
int baseline_read(struct baseline *b, struct exporter *e);
/* Reads the counters alone, which are in the meta line. */
void baseline_read_counters(struct baseline *b, const struct exporter *e);

#endif
