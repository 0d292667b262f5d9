/* SPDX-License-Identifier: BSD-2-Clause */
/* What the spans of each path used together, and what the run used outside of all spans. */
#ifndef RUN_SPAN_SUMS_H
#define RUN_SPAN_SUMS_H

#include "run/span.h"

/*
 * The spans of a run by their paths: their own name below those of the spans around them. Spans
 * with the same path are one step of the work, done several times.
 */

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

/* In the order in which they are shown. */
enum span_value {
	SPAN_CPU,
	SPAN_WALL,
	SPAN_PEAK, /* exact, or its lower bound */
	SPAN_PEAK_UPPER,
	SPAN_PROCESSES,
	SPAN_READ,
	SPAN_WRITTEN,
	SPAN_USER,
	SPAN_SYSTEM,
	SPAN_WAITED,
	NR_SPAN_VALUES
};

struct span_value_kind {
	const char *key; /* published */
	enum metric_unit unit;
	enum { SPAN_SUMMED, SPAN_LARGEST } of_equal; /* what stands for several spans */
	bool is_of_rest; /* spans beside each other and the rest add up to the run */
};

/* Of the spans that have the value. */
struct span_amount {
	size_t nr;
	uint64_t sum, least, most;
};

struct span_sum {
	size_t nr; /* spans */
	size_t with_status, failed;
	size_t incomplete, unended;
	int status;    /* of the first with one, as a shell gives it */
	char why[200]; /* the first incomplete one is so */
	struct span_amount amount[NR_SPAN_VALUES];
};

struct span_sums {
	struct span_sum *of;       /* owned; of each path */
	struct span_sum outermost; /* of those that are in no other */
	uint64_t in_place;         /* of them: those that their processes have ended themselves */
};

const struct span_value_kind *span_value_kind(enum span_value v);
/* False: the summary of a run or span has no such value. */
bool span_value_get(const struct summary *s, enum span_value v, uint64_t *value);
/* To be given to span_sums_done(), also after an error. -ENOMEM. */
int span_sums_init(struct span_sums *s, const struct span_paths *p);
/* Adds a span to its path, if it has one. */
void span_sums_add(struct span_sums *s, const struct span_paths *p, const struct span *span);
/*
 * What @run used outside of all spans. The process that begins a span in place, and so may begin
 * several, is part of that, too. False: the run or a span has no such value, the run lacks what its
 * spans have, or it is none that can be subtracted.
 */
bool span_sums_rest(const struct span_sums *s, const struct summary *run, enum span_value v,
		    uint64_t *rest);
void span_sums_done(struct span_sums *s);

#endif
