/* SPDX-License-Identifier: BSD-2-Clause */
/* A span of a run: one process and its descendants, from a moment on, with totals of their own. */
#ifndef RUN_SPAN_H
#define RUN_SPAN_H

#include "run/summary.h"

#include <jansson.h>
#include <sys/types.h>

#define SPAN_NAME_BYTES 256 /* with its NUL */
#define MAX_SPAN_TAGS 16
#define MAX_SPAN_DEPTH 32 /* none begins deeper; one that is read is beside its parent */

/* What it is called by the process that begins it. */
struct span_label {
	const char *name;                /* not owned */
	const char *tags[MAX_SPAN_TAGS]; /* "key=value", the keys are unique; not owned */
	size_t nr_tags;
};

struct span {
	uint64_t id;     /* from 1 on, in the order in which the run's spans begin */
	uint64_t parent; /* the span in which it began; 0: the run itself */
	int32_t pid;     /* of the process that began it */
	bool in_place;   /* that process ends it itself */
	struct span_label label;
	uint64_t start_epoch_ns;
	uint64_t end_epoch_ns; /* of its last process, or when it was ended in place; 0: it had
				* not ended when the run did */
	struct summary used;   /* spans within it included; no programs */
};

/* The tags of a span, from an object of JSON: "key=value", one behind the other in one text. */

/* The bytes that all members of @tags, which may be NULL, take in the text. */
size_t label_measure_tags(json_t *tags);
/* Appends a tag, of which the text begins at *@at, to @label, which has room for it; *@at is behind
 * it then. @value is a string. */
void label_add_tag(struct span_label *label, char **at, const char *key, const json_t *value);

/* A message that a span begins or ends, or that the lines of the run are wanted: of unknown origin.
 */

struct span_message {
	bool is_live; /* lines are wanted: the next one, and nothing else */
	bool wants_processes;
	bool is_end, in_place, has_status;
	int status; /* of the command that has ended, as wait(2) gives it */
	pid_t pid;  /* of which the span is; 0: the sender */
	struct span_label label;
	char *text; /* owned: what the label points into */
};

/* -EBADMSG, -ENOMEM: @why then says what is wrong, in a sentence without a full stop. */
int span_message_read(struct span_message *m, const char *text, size_t length, char *why,
		      size_t size);
void span_message_done(struct span_message *m);

#endif
