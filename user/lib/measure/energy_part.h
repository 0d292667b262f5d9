/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine's energy from drain to drain, and the part of a view: its share of the energy of each
 * interval by its CPU time in that interval, of all CPUs. The rest, of other processes and of idle
 * CPUs, stays unapportioned: both together are the counter.
 */
#ifndef MEASURE_ENERGY_PART_H
#define MEASURE_ENERGY_PART_H

#include "base/json.h"
#include "measure/energy.h"
#include "run/sample.h"

#include <jansson.h>

#define ENERGY_DIMENSION "energy" /* instances of samples and summaries: the counters */

/* Of the books. */
struct energy_meter {
	struct energy energy;
	bool is_open;
	uint64_t read_ns;            /* CLOCK_MONOTONIC of the last reading */
	uint64_t at_ns, at_uj;       /* CLOCK_MONOTONIC of the last drain, and the counter at it */
	uint64_t spent_uj, whole_ns; /* from the drain before to it: energy, and time of all CPUs */
};

/* Returns NULL if this machine has energy counters that may be read, else why not: a clause. */
const char *energy_why_missing(void);
/* Opens the counters, with the present rights. Without any, nothing is put. */
void energy_meter_open(struct energy_meter *m);
void energy_meter_done(struct energy_meter *m);
/* A drain began at @now_ns (CLOCK_MONOTONIC). */
void energy_meter_drain(struct energy_meter *m, uint64_t now_ns);

/*
 * Reads the counters if the last time is long ago, before they wrap. Call when the loop has waited,
 * for up to energy_meter_wait().
 */
void energy_meter_refresh(struct energy_meter *m);
/* Returns the time in ms until energy_meter_refresh() is due, at most @wait_ms (-1: no limit). */
int energy_meter_wait(const struct energy_meter *m, int wait_ms);

/* Of a view. */
struct energy_part {
	uint64_t base_uj[MAX_ENERGY_DOMAINS], base_sum_uj; /* counters when it began */
	uint64_t share_uj;
	uint64_t cpu_ns; /* at the last drain */
};

/* It begins now; for a run, with the counters read at this moment. */
void energy_part_begin(struct energy_part *p, struct energy_meter *m, bool reads_now);
/* Takes the share of the last drain, at which the view's processes had used @cpu_ns. */
void energy_part_drain(struct energy_part *p, const struct energy_meter *m, uint64_t cpu_ns);
/* Sets the usable metrics in @smp, with an instance for each counter. Returns 0 or -ENOMEM. */
int energy_part_put(const struct energy_part *p, const struct energy_meter *m,
		    const struct metric_set *usable, struct sample *smp);

/* Writes what it has for the process that goes on with the view, as the member "energy" of @j. */
void energy_part_keep(const struct energy_part *p, const struct energy_meter *m, struct jsonw *j);
/* Takes that from the object @o, after energy_part_begin(). */
void energy_part_resume(struct energy_part *p, const struct energy_meter *m, const json_t *o);

#endif
