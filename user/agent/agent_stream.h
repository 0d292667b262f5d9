/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stream of the node: the lines of all its jobs, each with "run", for listeners, of which each
 * gets the jobs that it may see. And what a line is about, a subject: a job of the node, or the run
 * of a client.
 */
#ifndef AGENT_AGENT_STREAM_H
#define AGENT_AGENT_STREAM_H

#include "base/json.h"
#include "measure/feed.h"
#include "measure/tally_view.h"
#include "run/run.h"
#include "run/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stream;

struct subject {
	struct stream *stream; /* not owned */
	struct run run;        /* as it is shown: without command and folder */
	struct job_label label;
	char user[64], name[256];
	bool is_shown; /* its meta line has been written */
};

struct listener {
	struct listener *next; /* not owned */
	struct feed feed;
	uid_t uid; /* sees the jobs of this user, */
	bool sees_all;
};

struct stream {
	struct listener *first; /* not owned */
	struct jsonw line;      /* that is being written */
	uint64_t dropped;       /* lines that a listener did not take */
};

void node_stream_done(struct stream *s);
void stream_add(struct stream *s, struct listener *l);
void stream_remove(struct stream *s, struct listener *l);
/* Writes the meta line of @subject to @l; NULL: to all that may see it. */
void stream_put_meta(struct stream *s, const struct subject *subject, struct listener *l);
/* Writes the sample @smp of @subject to @l; NULL: to all that may see it. */
void stream_put_sample(struct stream *s, const struct subject *subject, const struct sample *smp,
		       struct listener *l);
/* Writes to @l that @subject has been stalled since @stall->begun_ns, if it is. */
void stream_put_stall(struct stream *s, const struct subject *subject, const struct stall *stall,
		      uint64_t elapsed_ns, struct listener *l);
/* Writes samples, stalls and the summary of a job; its context is the subject. */
extern const struct view_observer stream_observer;
/* Writes the line in @j, which is about the whole node, to @l or to all that see all; empties @j.
 */
void stream_put_own(struct stream *s, struct jsonw *j, struct listener *l);
/* Whether @l may see @subject. */
bool listener_sees(const struct listener *l, const struct subject *subject);

/* The names of users, without asking a name service, for which the agent would have to wait. */

/* The name in /etc/passwd of the user @uid (-1: nobody's), or its number. */
void user_name_of(int64_t uid, char *name, size_t size);

#endif
