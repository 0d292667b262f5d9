/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans that a report shows: of very many those that took longest; and the sums of spans with
 * the same name, over all of them.
 */
#ifndef PAGE_PAGE_SPANS_H
#define PAGE_PAGE_SPANS_H

#include "base/json.h"
#include "run/span.h"

#include <jansson.h>

#define SPANS_SHOWN 2000
#define SPAN_NAMES 10000 /* that are distinguished; spans with further ones are only counted */

/* The counters that are shown of each. */
#define SPAN_METRICS 3
extern const enum metric_id span_metrics[SPAN_METRICS];

/* What one span used, or all of one name; a span's values include those of the spans within it. */
struct span_totals {
	uint64_t wall_ns;
	uint64_t processes;
	bool has_peak;
	uint64_t peak_bytes; /* the largest of them, or its lower bound */
	bool has_upper;
	uint64_t upper_bytes; /* none of them held more */
	bool has[SPAN_METRICS];
	uint64_t value[SPAN_METRICS];
};

struct report_span {
	uint64_t id, parent;
	int32_t pid;
	size_t name;                           /* its place in the list of names */
	char *tags;                            /* owned, as "a=b, c=d"; NULL: none */
	uint64_t start_epoch_ns, end_epoch_ns; /* as in struct span */
	bool complete, has_status;
	int exit_code, signal;
	struct span_totals used;
};

struct span_name {
	char *text;      /* owned */
	uint64_t spans;  /* with this name */
	uint64_t failed; /* of them: with an exit code but 0, or killed by a signal */
	uint64_t broken; /* of them: not complete */
	uint64_t open;   /* of them: not ended when the run did */
	uint64_t first_epoch_ns, last_epoch_ns; /* start of the first, end of the last */
	uint64_t longest_ns;
	struct span_totals used;
	size_t place; /* in the page; SIZE_MAX: no span of that name is in it */
};

struct report_spans {
	struct report_span *list; /* owned */
	size_t nr, room;
	uint64_t total; /* including those that are not shown */
	bool is_pruned; /* then a span that took no longer than @least_ns is not kept */
	uint64_t least_ns;
	struct span_name *names; /* owned */
	size_t nr_names, room_names;
	json_t *index;    /* owned; from a name to its place in @names */
	uint64_t unnamed; /* spans whose names are beyond SPAN_NAMES */
};

/* Copies @s. -ENOMEM. */
int spans_add(struct report_spans *all, const struct span *s);
void report_spans_done(struct report_spans *all);
/*
 * "spans":{"total":...,"unnamed":...,"names_total":...,"name_fields":[...],"names":[...],
 * "fields":[...],"rows":[[...]]}, times in seconds since @start_ns; a row has the place of its name
 * in "names", which has the sums of its spans, or of one span only the text. Nothing if the run has
 * no spans.
 */
void spans_write(struct report_spans *all, uint64_t start_ns, struct jsonw *j);

#endif
