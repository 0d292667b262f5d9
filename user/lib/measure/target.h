/* SPDX-License-Identifier: BSD-2-Clause */
/* The tracked cgroup over time: it may be removed, and recreated under its path. */
#ifndef MEASURE_TARGET_H
#define MEASURE_TARGET_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stdint.h>

struct job;
struct sample;

struct target {
	uint64_t id;         /* of the present cgroup */
	uint64_t gone_ns;    /* CLOCK_MONOTONIC of its removal; 0: it exists */
	bool is_new;         /* recreated since the last comparison */
	int64_t reported_ns; /* CPU time of the cgroup less that of the run, when last reported */
	bool was_remade;     /* its CPU time is not that of the whole run */
	bool has_differed;
	uint64_t differed_ns; /* upper bound of the difference at the last sample */
};

/* Seeds the processes in the cgroup. Returns 0 or a negative errno. */
int target_seed(struct job *job);
/* Handles an event of the cgroup hooks. */
void target_event(struct job *job, const struct cgroup_event *e);
/* Checks that the cgroup is still the same, to find changes that the hooks missed. */
void target_look(struct job *job);
/*
 * Compares the CPU time in the cgroup's files with that of the run in @smp; the drain began at
 * @since_ns. Reports a difference that cannot come from reading one after the other.
 */
void target_compare(struct job *job, const struct sample *smp, uint64_t since_ns);
/*
 * Returns by how much the CPU time may be wrong because tasks moved in or out: a tick for each task
 * that was running, and the time between two samples for each that was found later, but no more
 * than the difference to the cgroup's own CPU time.
 */
uint64_t target_unsure_ns(const struct job *job);
/*
 * Returns when the run ends because its cgroup was removed (CLOCK_MONOTONIC), or UINT64_MAX if it
 * exists.
 */
uint64_t target_end_ns(const struct job *job);

#endif
