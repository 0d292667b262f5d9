/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's side of the history: a listener that sees all, whose other end is the historian, and
 * what that says of itself. Nothing here waits; what the historian does not take is lost for the
 * history alone, and counted.
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
	struct loop_source stream, control; /* -1: there is no history */
	bool listener_waits;                /* for EPOLLOUT */
	uint64_t dropped;                   /* lines, when jobs were last described */
	uint64_t kept, lost;                /* runs, as the historian says */
	char trouble[200];                  /* why it keeps none now; empty: it does */
};

/* Uses these descriptors, which stay the caller's; -1: no history. 0 or a negative errno. */
int archive_open(struct agent *a, int stream_fd, int control_fd);
/* To be called before the loop waits. */
void archive_prepare(struct archive *r);
/* Puts what is known of the history as a member of the object in @j. */
void archive_report(const struct archive *r, struct jsonw *j);
/*
 * Hands the stream of the client @p, with its query and its user, to the historian, which answers:
 * the agent has nothing more to do with it. 0; or a negative errno, and @why is a sentence.
 */
int archive_ask(struct peer *p, struct request *r, char *why, size_t size);
/* Sends the last lines, waiting a little. */
void archive_close(struct archive *r);

#endif
