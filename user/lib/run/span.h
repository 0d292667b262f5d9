/* SPDX-License-Identifier: BSD-2-Clause */
/* A span of a run: one process and its descendants from a moment on, with totals of its own. */
#ifndef RUN_SPAN_H
#define RUN_SPAN_H

#include "run/summary.h"

#include <jansson.h>
#include <sys/types.h>

#define SPAN_NAME_BYTES 256 /* with the NUL */
#define MAX_SPAN_TAGS 16
#define MAX_SPAN_DEPTH 32 /* a deeper one in a file is shown beside its parent */

/* Name and tags given by the process that begins the span. */
struct span_label {
	const char *name;                /* not owned */
	const char *tags[MAX_SPAN_TAGS]; /* "key=value" with unique keys; not owned */
	size_t nr_tags;
};

struct span {
	uint64_t id;     /* from 1 on, in order of start within the run */
	uint64_t parent; /* enclosing span; 0: the run itself */
	int32_t pid;     /* process that began it */
	bool in_place;   /* ended by that process itself */
	struct span_label label;
	uint64_t start_epoch_ns;
	uint64_t end_epoch_ns; /* of its last process, or in place; 0: still open */
	struct summary used;   /* includes inner spans; has no programs */
};

/* Returns the bytes of @tags, which may be NULL, as texts "key=value" with their NULs. */
size_t label_measure_tags(json_t *tags);
/* Appends a tag to @label, which has room; writes its text at *@at, which it advances. */
void label_add_tag(struct span_label *label, char **at, const char *key, const json_t *value);

/* A message of unknown origin that begins or ends a span, or requests the lines of the run. */

struct span_message {
	bool is_live; /* requests lines; only the next member applies */
	bool wants_processes;
	bool is_end, in_place, has_status;
	int status; /* of the ended command, as from wait(2) */
	pid_t pid;  /* process of the span; 0: the sender */
	struct span_label label;
	char *text; /* owned; the label points into it */
};

/* Returns 0, -EBADMSG or -ENOMEM; on error @why has the reason, a sentence without a full stop. */
int span_message_read(struct span_message *m, const char *text, size_t length, char *why,
		      size_t size);
void span_message_done(struct span_message *m);

#endif
