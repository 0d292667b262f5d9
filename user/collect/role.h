/* SPDX-License-Identifier: BSD-2-Clause */
/* The role under sudo, inside: one set of books, one job, one listener, and the loop over them. */
#ifndef COLLECT_ROLE_H
#define COLLECT_ROLE_H

#include "collect/loop.h"
#include "collect/request.h"
#include "job/job.h"

enum progress { WAITS, RUNNING, COMMAND_ENDED, OVER };

enum source { CONTROL, TICKS, RECORDS, FEED, PUSHED, NR_SOURCES };

struct collector {
	struct assignment assignment;
	const struct job_spec *spec; /* of the assignment */
	struct books books;
	struct job job;
	struct feed feed;
	struct loop loop;
	struct loop_source sources[NR_SOURCES];
	struct patience with_recorder; /* ends some time after the launcher */
	enum progress progress;
	bool feed_waits; /* for EPOLLOUT */
};

/* Adds all sources but the ticks to the loop. A negative errno. */
int collector_open_sources(struct collector *c);
/* Waits until the cgroup has its first process, or the launcher wants the end. */
void collector_wait_for_first(struct collector *c);
/* Takes samples, and what comes in between, until the run is over. */
void collector_watch(struct collector *c);
void summary_set_incomplete(struct summary *sum, const char *reason);

#endif
