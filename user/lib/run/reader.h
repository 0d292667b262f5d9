/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the public JSON Lines back into structs. Unknown kinds and keys are ignored. */
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
	LINE_METRIC, /* pushed by a program; has only the tree */
	LINE_PROCESS_SAMPLE,
	LINE_SPAN
};

/* Sets of kinds of lines. */
#define PART(kind) (1U << (kind))
#define PARTS_ALL (~0U)

struct line {
	enum line_kind kind;
	struct sample sample;                 /* LINE_SAMPLE: valid until the next line */
	struct process process;               /* LINE_PROCESS: strings valid until the next line */
	struct process_sample process_sample; /* LINE_PROCESS_SAMPLE */
	struct summary summary;               /* LINE_SUMMARY */
	struct span span;                     /* LINE_SPAN: strings valid until the next line */
	struct metric_set wanted;             /* LINE_META: the keys of its units */
	uint64_t start_epoch_ns;              /* from the last LINE_META */
	void *tree;                           /* owned json_t; the strings point into it */
	char *args;                           /* owned; arguments and exe of the process */
	size_t args_room;
	char *tags; /* owned; tags of the span */
};

/*
 * Returns false if the line is certainly of none of the kinds @parts. Tests only the beginning of
 * the line, so that most lines need no parsing.
 */
bool line_may_be(const char *text, size_t length, unsigned parts);
/* Parses one line. Returns 0, -ENOMEM, or -EBADMSG if it is no JSON object with a kind. */
int line_read(struct line *line, const char *text, size_t length);
/*
 * Parses a line like line_read(), in a tenth of the time: samples and process records get no tree
 * unless their texts have escapes or are not ASCII. For lines from the collector.
 */
int line_read_quick(struct line *line, const char *text, size_t length);
/* Returns 0 for a supported meta line, -EPROTONOSUPPORT for another version, or -EBADMSG. */
int line_check_meta(const struct line *line);
/* Returns the name of an event ("mark"), valid until the next line; NULL for another line. */
const char *line_get_event(const struct line *line);
/*
 * Returns the text of the mark, *@length bytes long, and sets the time at which it was sent. The
 * text is valid until the next line. Returns NULL if the line is no mark.
 */
const char *line_get_mark(const struct line *line, size_t *length, uint64_t *elapsed_ns);
/* Sets the arguments of the process from a json_t list of strings. Returns 0 or -ENOMEM. */
int line_set_args(struct line *line, const void *list);
void line_done(struct line *line);

/* Parts of lines, read from a tree. */

void metrics_read(json_t *o, uint64_t *values, struct metric_set *have);
/* Adds the instances in the object @by, which may be NULL. */
void instances_read(const json_t *by, struct sample *s);
/* Reads the members of a summary from the text like members_read(). */
struct reading;
void summary_read_line(struct reading *r, struct summary *s);
/* Sets @s to the members of @o; absent members become 0. */
void summary_read_members(struct summary *s, json_t *o);

#endif
