/* SPDX-License-Identifier: BSD-2-Clause */
/* Usage of the spans of each path together, and of the run outside all spans. */
#ifndef RUN_SPAN_SUMS_H
#define RUN_SPAN_SUMS_H

#include "run/span.h"

/* Spans by path: their name below those of enclosing spans. One path is one step, repeated. */

#define MAX_SPANS (1U << 20) /* per run; further ones are left out */
#define MAX_SPAN_PATHS 65536 /* spans of further paths are left out */
#define NO_PATH SIZE_MAX

struct span_path {
	const char *name;         /* valid as long as the paths */
	uint64_t id;              /* of its first span */
	size_t parent;            /* NO_PATH: outermost */
	bool is_orphan;           /* the enclosing span has no line, as the run was cut off */
	unsigned depth;           /* 0: outermost */
	size_t first, last, next; /* first and last child, next sibling; or NO_PATH */
	bool is_hidden;           /* beyond the limit of span_paths_sort(), as are all within it */
};

/* A span as added, before all spans are known. */
struct span_place {
	uint64_t id, parent;
	char *name; /* owned */
	size_t path;
};

struct span_paths {
	struct span_path *all; /* owned */
	size_t nr, room;
	size_t first, last; /* outermost ones, in order of their first spans */
	uint64_t left_out;  /* spans beyond MAX_SPANS or MAX_SPAN_PATHS */
	/* the spans, sorted by id once all have been added */
	struct span_place *spans; /* owned */
	size_t nr_spans, spans_room;
	uint32_t *index; /* owned; hash of parent and name -> path + 1 */
};

/* Adds a span; all spans are added first, in any order. @p starts zeroed. Returns 0 or -ENOMEM. */
int span_paths_add(struct span_paths *p, const struct span *s);
/* Builds the paths; with @is_each one per span. Returns 0 or -ENOMEM. */
int span_paths_finish(struct span_paths *p, bool is_each);
/* Returns the path of span @id, or NO_PATH if it was left out. */
size_t span_paths_find(const struct span_paths *p, uint64_t id);
/* Iterates over all paths, parents before children, from NO_PATH to NO_PATH. */
size_t span_paths_next(const struct span_paths *p, size_t path);
/* Appends the path to those within its parent. */
void span_path_link(struct span_paths *p, size_t path);
void span_paths_done(struct span_paths *p);

/* In display order. */
enum span_value {
	SPAN_CPU,
	SPAN_WALL,
	SPAN_PEAK, /* exact peak, or its lower bound */
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
	const char *key; /* as published */
	enum metric_unit unit;
	enum { SPAN_SUMMED, SPAN_LARGEST } of_equal; /* aggregate for several spans */
	bool is_of_rest; /* sibling spans and the rest add up to the run */
};

/* Over the spans that have the value. */
struct span_amount {
	size_t nr;
	uint64_t sum, least, most;
};

struct span_sum {
	size_t nr; /* number of spans */
	size_t with_status, failed;
	size_t incomplete, unended;
	int status;    /* of the first span with a status, as a shell reports it */
	char why[200]; /* reason of the first incomplete one */
	struct span_amount amount[NR_SPAN_VALUES];
};

struct span_sums {
	struct span_sum *of;       /* owned; one per path */
	struct span_sum outermost; /* spans without an enclosing one */
	uint64_t in_place;         /* of these, spans that their processes ended themselves */
};

const struct span_value_kind *span_value_kind(enum span_value v);
/* Returns false if the summary of a run or span lacks the value. */
bool span_value_get(const struct summary *s, enum span_value v, uint64_t *value);
/* Returns 0 or -ENOMEM. The caller calls span_sums_done() in either case. */
int span_sums_init(struct span_sums *s, const struct span_paths *p);
/* Adds a span to its path, if it has one. */
void span_sums_add(struct span_sums *s, const struct span_paths *p, const struct span *span);
/*
 * Computes the usage of @run outside all spans. This includes the process that begins spans in
 * place, as it may begin several. Returns false if the run or a span lacks the value, the run lacks
 * data that its spans have, or the value cannot be subtracted.
 */
bool span_sums_rest(const struct span_sums *s, const struct summary *run, enum span_value v,
		    uint64_t *rest);
void span_sums_done(struct span_sums *s);

/* The number of spans, and the one that took longest. */
struct longest_span {
	uint64_t nr;
	uint64_t wall_ns;
	char name[SPAN_NAME_BYTES];
};

void longest_span_add(struct longest_span *longest, const struct span *s);

/* The largest or first comes first. */
enum span_order {
	SPANS_BY_CPU,
	SPANS_BY_WALL,
	SPANS_BY_PEAK, /* its upper bound, if that is known */
	SPANS_BY_READ,
	SPANS_BY_WRITTEN,
	SPANS_BY_PROCESSES,
	SPANS_BY_START,
	SPANS_BY_NAME,
	NR_SPAN_ORDERS
};

/*
 * Sorts the paths within each path, and hides all but the first @most (0: hides none). A path that
 * is shown is below those around it, which count, too. Returns the number of hidden paths, or
 * -ENOMEM.
 */
ssize_t span_paths_sort(struct span_paths *p, const struct span_sums *s, enum span_order order,
			size_t most);

#endif
