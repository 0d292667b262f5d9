/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects how much each process held at the tree's exact peak. */
#ifndef MEASURE_EXACT_PEAK_H
#define MEASURE_EXACT_PEAK_H

#include "bpfmon/shared.h"
#include "measure/tracker.h"
#include "run/process.h"
#include "run/summary.h"

/* A process that may have held something at the peak. */
struct share {
	struct holder holder; /* rss_bytes: at peak number epoch */
	uint64_t epoch;
	uint64_t serial;
	uint64_t mm; /* key of its address space, if it is alive */
};

struct exact_peak {
	struct share *shares; /* owned */
	size_t nr, room;
	uint64_t epoch; /* the newest in the record of an ended process */
};

/*
 * Adds the record of an ended process. What it held at an older peak than the newest is ignored.
 * -ENOMEM: it will not be listed.
 */
int exact_peak_ended(struct exact_peak *x, const struct process_record *r, const struct process *p);
/* Adds a process that is still in the map; @mm 0: it has none any more. -ENOMEM as above. */
int exact_peak_left(struct exact_peak *x, const struct process_record *r, const struct process *p,
		    uint64_t mm);
/* After tracker_freeze_peak(): sets the exact peak of @s, and the processes that held it. */
void exact_peak_finish(struct exact_peak *x, const struct tracker *t, uint64_t start_ns,
		       struct summary *s);
void exact_peak_done(struct exact_peak *x);

#endif
