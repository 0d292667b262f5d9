/* SPDX-License-Identifier: BSD-2-Clause */
/* The cgroup that is followed, over time: it may be removed, and made again under its name. */
#ifndef JOB_TARGET_H
#define JOB_TARGET_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stdint.h>

struct job;
struct sample;

struct target {
	uint64_t id;      /* of the one that is followed now */
	uint64_t gone_ns; /* CLOCK_MONOTONIC, when it was removed; 0: it is there */
	bool is_new;      /* made again since the last comparison */
	int64_t told_ns;  /* by how much its own CPU time was more than ours, when last told */
	bool was_remade;  /* then its own CPU time is not that of all of the run */
	bool has_differed;
	uint64_t differed_ns; /* by how much at most they differed at the last sample */
};

/* Makes known who is in it. */
int target_seed(struct job *job);
/* What the programs tell of it. */
void target_event(struct job *job, const struct cgroup_event *e);
/* Looks whether it is still the same; what the programs did not tell is found out here. */
void target_look(struct job *job);
/*
 * Compares what it says itself with what we count: @smp was drained for from @since_ns on. A
 * difference that reading the two one after the other does not explain is an event.
 */
void target_compare(struct job *job, const struct sample *smp, uint64_t since_ns);
/*
 * By how much the CPU time may be off for tasks that were moved in or out: a tick for each that ran
 * just then, and the time between two samples for each that was found later; but no more than it
 * differs from what the cgroup says itself.
 */
uint64_t target_unsure_ns(const struct job *job);
/* When it has been gone for so long that it is not waited for any more; UINT64_MAX: it is there. */
uint64_t target_end_ns(const struct job *job);

#endif
