/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits of a run: at each sample what it has is compared with them; of memory also as soon as the
 * kernel reports it, with --exact-peak, and often in between, in a cgroup of its own. What goes
 * beyond a hard one ends the run: the launcher, which has its user's rights, gets the list of its
 * processes until there is none, and sends them signals.
 */
#ifndef MEASURE_LIMIT_WATCH_H
#define MEASURE_LIMIT_WATCH_H

#include "run/limit.h"

struct job;

struct limit_watch {
	bool is_hit[MAX_LIMITS];
	bool is_contradicted[MAX_LIMITS]; /* this has been reported */
	bool is_ending;
	bool is_killing;       /* and gets SIGKILL */
	uint64_t ended_before; /* processes that had ended when it was to end */
	uint64_t next_ns;      /* CLOCK_MONOTONIC: of the next round, or look at the cgroup */
	uint64_t pause_ns;     /* between rounds */
	bool has_cgroup;       /* of its own, of which the memory is looked at */
	bool has_spans;        /* there is a limit of spans */
	/* The smallest limits of the run's memory and time that are not hit; 0: none. */
	uint64_t memory_at, wall_at;
	bool is_reported;        /* the kernel has counted more memory than memory_at */
	uint64_t reported_bytes; /* the peak then, for the next sample */
};

/* With limits: opens what is needed to look at them between samples, and looks at each sample. */
void limit_watch_open(struct job *job);
/* The kernel has counted more memory than limits.memory_at: takes a sample soon. */
void limit_watch_report(struct job *job);
/* The launcher has begun to send SIGKILL: from now on what is to end makes no process any more. */
void limit_watch_kill(struct job *job);
/* The run is over, whatever is left of it: sends the launcher that, and no longer acts on it. */
void limit_watch_leave(struct job *job);
/* To be called after the loop has waited; and the longest wait until then, no more than @wait_ms
 * (-1: no limit). */
void limit_watch_attend(struct job *job);
int limit_watch_wait(const struct job *job, int wait_ms);

#endif
