/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans that a report shows: all or, of very many, those with the longest duration; and the
 * totals of spans with the same name, over all spans.
 */
#ifndef PAGE_PAGE_SPANS_H
#define PAGE_PAGE_SPANS_H

#include "base/json.h"
#include "run/span.h"

#include <jansson.h>

#define SPANS_SHOWN 2000
#define SPAN_NAMES                                                                                 \
	10000 /* names that are distinguished; spans with further names are only counted */

#define SPAN_METRICS 3
extern const enum metric_id span_metrics[SPAN_METRICS];

/*
 * Resources of one span, or of all spans of a name. Values of a span include those of the spans
 * within it.
 */
struct span_totals {
	uint64_t wall_ns;
	uint64_t processes;
	bool has_peak;
	uint64_t peak_bytes; /* largest peak, or its lower bound */
	bool has_upper;
	uint64_t upper_bytes; /* upper bound of each peak */
	bool has[SPAN_METRICS];
	uint64_t value[SPAN_METRICS];
};

struct report_span {
	uint64_t id, parent;
	int32_t pid;
	size_t name;                           /* index in @names */
	char *tags;                            /* owned, as "a=b, c=d"; may be NULL */
	uint64_t start_epoch_ns, end_epoch_ns; /* as in struct span */
	bool complete, has_status;
	int exit_code, signal;
	struct span_totals used;
};

struct span_name {
	char *text;      /* owned */
	uint64_t spans;  /* with this name */
	uint64_t failed; /* with an exit code other than 0, or killed by a signal */
	uint64_t broken; /* incomplete */
	uint64_t open;   /* not ended before the run */
	uint64_t first_epoch_ns, last_epoch_ns; /* start of the first, end of the last */
	uint64_t longest_ns;
	struct span_totals used;
	size_t place; /* index in the page; SIZE_MAX if the page has no span of that name */
};

struct report_spans {
	struct report_span *list; /* owned */
	size_t nr, room;
	uint64_t total; /* including those that are not shown */
	bool is_pruned; /* spans not longer than @least_ns are dropped */
	uint64_t least_ns;
	struct span_name *names; /* owned */
	size_t nr_names, room_names;
	json_t *index;    /* owned; name -> index in @names */
	uint64_t unnamed; /* spans whose names are beyond SPAN_NAMES */
};

/* Copies @s. Returns 0 or -ENOMEM. */
int spans_add(struct report_spans *all, const struct span *s);
void report_spans_done(struct report_spans *all);
/*
 * Writes "spans":{"total":...,"unnamed":...,"names_total":...,"name_fields":[...],"names":[...],
 * "fields":[...],"rows":[[...]]}, with times in seconds since @start_ns. A row refers to its name
 * by the index in "names". An element of "names" has the totals of its spans, or is only the text
 * if there is one span. Writes nothing if the run has no spans.
 */
void spans_write(struct report_spans *all, uint64_t start_ns, struct jsonw *j);

#endif
