/* SPDX-License-Identifier: BSD-2-Clause */
/* The cgroup that is followed, over time: it may be removed, and made again under its name. */
#ifndef MEASURE_TARGET_H
#define MEASURE_TARGET_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stdint.h>

struct job;
struct sample;

struct target {
	uint64_t id;      /* of the one that is followed now */
	uint64_t gone_ns; /* CLOCK_MONOTONIC, when it was removed; 0: it exists */
	bool is_new;      /* made again since the last comparison */
	int64_t told_ns;  /* its own CPU time less the run's, when last reported */
	bool was_remade;  /* then its own CPU time is not that of the whole run */
	bool has_differed;
	uint64_t differed_ns; /* an upper bound of their difference at the last sample */
};

/* Seeds the processes in it. 0 or a negative errno. */
int target_seed(struct job *job);
/* Handles a change that the hooks report. */
void target_event(struct job *job, const struct cgroup_event *e);
/* Checks that it is still the same cgroup: finds changes that the hooks did not report. */
void target_look(struct job *job);
/*
 * Compares the CPU time in its files with that of the run, in @smp, the drain for which began at
 * @since_ns. A difference that is too large to come from reading one after the other is an event.
 */
void target_compare(struct job *job, const struct sample *smp, uint64_t since_ns);
/*
 * By how much the CPU time may be wrong because of tasks that were moved in or out: a tick for each
 * that ran just then, and the time between two samples for each that was found later; but no more
 * than the difference from the cgroup's own CPU time.
 */
uint64_t target_unsure_ns(const struct job *job);
/* When the run ends because the cgroup stays removed; UINT64_MAX: it exists. */
uint64_t target_end_ns(const struct job *job);

#endif
