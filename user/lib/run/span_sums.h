/* SPDX-License-Identifier: BSD-2-Clause */
/* What the spans of each path used together, and what the run used outside of all spans. */
#ifndef RUN_SPAN_SUMS_H
#define RUN_SPAN_SUMS_H

#include "run/span_paths.h"

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
