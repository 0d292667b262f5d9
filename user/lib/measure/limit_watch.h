/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits of a run. Each sample is compared with them; memory also between samples: when the kernel
 * reports it (--exact-peak), or by polling the run's own cgroup. A hard limit that is exceeded ends
 * the run: the launcher, which has the rights of the user, gets lists of live processes and sends
 * signals until there are none.
 */
#ifndef MEASURE_LIMIT_WATCH_H
#define MEASURE_LIMIT_WATCH_H

#include "run/limit.h"

struct job;

struct limit_watch {
	bool is_hit[MAX_LIMITS];
	bool is_contradicted[MAX_LIMITS]; /* already reported */
	bool is_ending;
	bool is_killing;       /* SIGKILL phase */
	uint64_t ended_before; /* processes that had ended when ending began */
	uint64_t next_ns;      /* CLOCK_MONOTONIC of the next round or poll of the cgroup */
	uint64_t pause_ns;     /* between rounds */
	bool has_cgroup;       /* own cgroup whose memory is polled */
	bool has_spans;
	/* The smallest limits of memory (bytes) and time (ns) not hit yet; 0: none. */
	uint64_t memory_at, wall_at;
	bool is_reported;        /* the kernel reported more than memory_at */
	uint64_t reported_bytes; /* peak at that report, for the next sample */
};

/* Prepares checks between samples and at each sample, if there are limits. */
void limit_watch_open(struct job *job);
/* Call when the kernel reports more memory than limits.memory_at: a sample is taken soon. */
void limit_watch_note_report(struct job *job);
/* The launcher has begun to send SIGKILL: prevents the run's processes from creating more. */
void limit_watch_kill(struct job *job);
/* The run is over: notifies the launcher and stops killing what is left. */
void limit_watch_leave(struct job *job);
/* Does what is due. Call after the loop has waited. */
void limit_watch_attend(struct job *job);
/* Returns the time in ms until limit_watch_attend() is due, at most @wait_ms (-1: no limit). */
int limit_watch_wait(const struct job *job, int wait_ms);

#endif
