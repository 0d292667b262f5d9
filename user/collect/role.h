/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the collector: the books, one job, its feed to the recorder, and the event loop. */
#ifndef COLLECT_ROLE_H
#define COLLECT_ROLE_H

#include "collect/loop.h"
#include "collect/request.h"
#include "collect/span_desk.h"
#include "job/job.h"

enum progress { WAITS, RUNNING, COMMAND_ENDED, OVER };

enum source { CONTROL, TICKS, RECORDS, FEED, PUSHED, PSS, NR_SOURCES };

struct collector {
	struct assignment assignment;
	const struct job_spec *spec; /* of the assignment */
	struct books books;
	struct job job;
	struct feed feed;
	struct loop loop;
	struct loop_source sources[NR_SOURCES];
	struct span_desk desk;
	struct patience with_recorder; /* limited once the launcher has ended */
	enum progress progress;
	bool feed_waits; /* for EPOLLOUT */
};

/* Adds all sources except for the ticks to the loop. 0 or a negative errno. */
int collector_open_sources(struct collector *c);
/* Waits until the cgroup has its first process, or the launcher ends the run. */
void collector_wait_for_first(struct collector *c);
/* Takes samples, and handles events between them, until the run is over. */
void collector_watch(struct collector *c);
void summary_set_incomplete(struct summary *sum, const char *reason);

#endif
