/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the public JSON Lines back into the model. Unknown kinds and keys are no error. */
#ifndef RUN_READER_H
#define RUN_READER_H

#include "run/process.h"
#include "run/sample.h"
#include "run/span.h"
#include "run/summary.h"
#include "run/tree.h"

#include <jansson.h>

enum line_kind {
	LINE_OTHER,
	LINE_META,
	LINE_SAMPLE,
	LINE_PROCESS,
	LINE_EVENT,
	LINE_SUMMARY,
	LINE_METRIC, /* pushed by a program: only the tree */
	LINE_PROCESS_SAMPLE,
	LINE_SPAN
};

/* Sets of kinds of lines. */
#define PART(kind) (1U << (kind))
#define PARTS_ALL (~0U)

struct line {
	enum line_kind kind;
	struct sample sample;   /* LINE_SAMPLE: in use until the next line */
	struct process process; /* LINE_PROCESS: its strings are in use until the next line */
	struct process_sample process_sample; /* LINE_PROCESS_SAMPLE */
	struct summary summary;               /* LINE_SUMMARY */
	struct span span;         /* LINE_SPAN: its strings are in use until the next line */
	struct metric_set wanted; /* LINE_META: the keys of its units */
	uint64_t start_epoch_ns;  /* of the last LINE_META */
	void *tree;               /* what the strings point into; owned */
	char *args;               /* owned; those of the process, and its exe */
	size_t args_room;
	char *tags; /* owned; those of the span */
};

/* Whether a line may be one of @parts: the kind comes first, so that most need not be parsed. */
bool line_may_be(const char *text, size_t length, unsigned parts);
/* Parses one line of @length bytes. -EBADMSG: not a JSON object with a kind.
 * -ENOMEM. */
int line_read(struct line *line, const char *text, size_t length);
/*
 * The same for lines as they come from the collector: samples and records of processes have no tree
 * then, unless their texts have bytes that are escaped or no ASCII. It takes a tenth of the time.
 */
int line_read_quick(struct line *line, const char *text, size_t length);
/* Whether it is the meta of a run that we understand. -EBADMSG: it is no meta; -EPROTONOSUPPORT. */
int line_check_meta(const struct line *line);
/* The name of the event that it is ("exec", "mark"), in use until the next line; NULL: it is none.
 */
const char *line_get_event(const struct line *line);
/* The text of the mark that it is, *@length bytes, and when it was sent; in use until the next
 * line. NULL: it is none. */
const char *line_get_mark(const struct line *line, size_t *length, uint64_t *elapsed_ns);
/* Takes the arguments of its process from a list of strings, a json_t. -ENOMEM. */
int line_set_args(struct line *line, const void *list);
void line_done(struct line *line);

/* Parts of lines, read from a tree; what is absent is 0. */

void metrics_read(json_t *o, uint64_t *values, struct metric_set *have);
/* Adds the instances in the object @by, which may be NULL. */
void instances_read(const json_t *by, struct sample *s);
/* Reads the members of a summary, as members_read() does. */
struct reading;
void summary_read_line(struct reading *r, struct summary *s);
/* Sets @s to what the members of @o say; absent is 0. */
void summary_read_members(struct summary *s, json_t *o);

#endif
