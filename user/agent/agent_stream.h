/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stream of the node: the lines of all jobs, each with the key "run", for listeners that each
 * get the jobs that they may see. A subject is what a line is about: a job of the node, or the run
 * of a client.
 */
#ifndef AGENT_AGENT_STREAM_H
#define AGENT_AGENT_STREAM_H

#include "base/clock.h"
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
	struct run run;        /* as published: without command and folder */
	struct job_label label;
	char user[64], name[256];
	struct sample sent;    /* the last one for listeners of changes; without instances */
	uint64_t unchanged_ns; /* elapsed time of the last equal one that was left out; 0: none */
	uint64_t unchanged_lifetime;
};

struct listener {
	struct listener *next; /* not owned */
	struct feed feed;
	uid_t uid; /* whose jobs it sees */
	bool sees_all;
	/*
	 * Equal samples are left out but for the last one before a change, and one in
	 * LISTENER_SILENT_NS.
	 */
	bool only_changes;
};

#define LISTENER_SILENT_NS (60 * NSEC_PER_SEC)

struct stream {
	struct listener *first; /* not owned */
	struct jsonw line;      /* being written */
	uint64_t dropped;       /* lines that did not fit into the feed of a listener */
};

void node_stream_done(struct stream *s);
void stream_add(struct stream *s, struct listener *l);
void stream_remove(struct stream *s, struct listener *l);
/* Writes the meta line of @subject to @l, or if that is NULL to all listeners that may see it. */
void stream_put_meta(struct stream *s, const struct subject *subject, struct listener *l);
/* Writes the sample @smp of @subject to @l, or if that is NULL to all listeners that may see it. */
void stream_put_sample(struct stream *s, const struct subject *subject, const struct sample *smp,
		       struct listener *l);
/* If @subject is stalled, writes to @l that it has been since @stall->begun_ns. */
void stream_put_stall(struct stream *s, const struct subject *subject, const struct stall *stall,
		      uint64_t elapsed_ns, struct listener *l);
/* Writes samples, stalls and the summary of a job; the context is its subject. */
extern const struct view_observer stream_observer;
/*
 * Writes the line in @j, about the whole node, to @l, or if that is NULL to all listeners that see
 * all jobs. Empties @j.
 */
void stream_put_own(struct stream *s, struct jsonw *j, struct listener *l);
/* Returns whether @l may see @subject. */
bool listener_sees(const struct listener *l, const struct subject *subject);

/*
 * Copies the name of the user @uid from /etc/passwd, or else its number; -1 means no user. Name
 * services are not asked, because the agent would have to wait for them.
 */
void user_name_find(int64_t uid, char *name, size_t size);

#endif
