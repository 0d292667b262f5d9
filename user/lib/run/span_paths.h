/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans of a run by their paths: their own name below those of the spans around them. Spans
 * with the same path are one step of the work, done several times.
 */
#ifndef RUN_SPAN_PATHS_H
#define RUN_SPAN_PATHS_H

#include "run/span.h"

#define MAX_SPANS (1U << 20) /* of a run; others are left out */
#define MAX_SPAN_PATHS 65536 /* spans of further ones are left out */
#define NO_PATH SIZE_MAX

struct span_path {
	const char *name;         /* in use as long as the paths */
	uint64_t id;              /* of its first span */
	size_t parent;            /* NO_PATH: it is an outermost one */
	bool is_orphan;           /* the span around it has no line: the run was cut off */
	unsigned depth;           /* 0: an outermost one */
	size_t first, last, next; /* the first and last path in it, the one beside it; NO_PATH */
};

/* What is known of a span before all of them are. */
struct span_place {
	uint64_t id, parent;
	char *name; /* owned */
	size_t path;
};

struct span_paths {
	struct span_path *all; /* owned */
	size_t nr, room;
	size_t first, last; /* outermost ones, in the order in which their first spans began */
	uint64_t left_out;  /* spans, for their number or that of their paths */
	/* the spans, by their ids once all have been added */
	struct span_place *spans; /* owned */
	size_t nr_spans, spans_room;
	uint32_t *index; /* owned; hash of parent and name -> path + 1 */
};

/* Begins as zeros. All spans are added first, in any order. -ENOMEM. */
int span_paths_add(struct span_paths *p, const struct span *s);
/* Then the paths are made; @is_each: each span has one of its own. -ENOMEM. */
int span_paths_finish(struct span_paths *p, bool is_each);
/* The path of the span @id; NO_PATH: it was left out. */
size_t span_paths_find(const struct span_paths *p, uint64_t id);
/* All of them: each behind the one that it is in, from NO_PATH to NO_PATH. */
size_t span_paths_next(const struct span_paths *p, size_t path);
void span_paths_done(struct span_paths *p);

#endif
