/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's side of the history: a listener that sees all jobs and writes to the historian, and
 * the state that the historian reports. It never blocks; lines that the historian does not read in
 * time are dropped and counted.
 */
#ifndef AGENT_ARCHIVE_H
#define AGENT_ARCHIVE_H

#include "agent/agent_stream.h"
#include "base/loop.h"

#include <sys/types.h>

struct agent;
struct peer;
struct request;

struct archive {
	struct agent *agent; /* not owned */
	struct listener listener;
	struct loop_source stream, control; /* fd -1 if there is no history */
	bool listener_waits;                /* for EPOLLOUT */
	uint64_t dropped;                   /* lines, at the time jobs were last described */
	uint64_t kept, lost;                /* runs, as the historian reports */
	char trouble[200];                  /* why runs are not kept now; empty if they are */
};

/*
 * Uses these descriptors, which the caller still owns; -1 for no history. Returns 0 or a negative
 * errno.
 */
int archive_open(struct agent *a, int stream_fd, int control_fd);
/* Called before the loop waits. */
void archive_prepare(struct archive *r);
/* Adds the state of the history as a member of the object in @j. */
void archive_report(const struct archive *r, struct jsonw *j);
/*
 * Passes the socket of the client @p to the historian, with its query and user; the historian
 * answers the client itself. Returns 0, or a negative errno with a sentence in @why.
 */
int archive_pass_query(struct peer *p, struct request *r, char *why, size_t size);
/* Sends the last lines, waiting for a short time. */
void archive_close(struct archive *r);

#endif
