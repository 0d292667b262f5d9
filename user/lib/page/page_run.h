/* SPDX-License-Identifier: BSD-2-Clause */
/* The data of a run that a report shows, read from the lines of any source. */
#ifndef PAGE_PAGE_RUN_H
#define PAGE_PAGE_RUN_H

#include "run/phase.h"
#include "run/stall_state.h"
#include "page/charts.h"
#include "page/held.h"
#include "page/missing.h"
#include "page/page.h"
#include "page/processes.h"
#include "page/series.h"
#include "page/page_spans.h"
#include "store/source.h"
#include "text/answer.h"

#include <jansson.h>

struct report_run {
	json_t *meta, *summary; /* a missing summary is computed from the other lines */
	json_t *events;         /* array */
	json_t *event_counts;   /* object: name -> number, including events not in @events */
	size_t event_bytes;     /* size of @events */
	struct report_charts charts;
	struct report_missing missing; /* not in @events */
	struct report_held held;
	struct report_processes processes;
	struct report_spans spans;
	struct report_series pushed;
	struct phases phases;     /* from mark to mark */
	struct phase_times times; /* of the same phases, for the answer */
	struct stall_state stall; /* from the latest event */
	struct stalls stalls;     /* all of them, for the answer */
	uint64_t start_epoch_ns;
	uint64_t samples, unreadable; /* number of samples, and of lines that belong to no run */
	bool is_cut;                  /* the lines end before the run did */
	bool is_running;              /* the run in the store has not ended */
};

/* Returns 0 or -ENOMEM. The caller calls report_close() in any case. */
int report_open(struct report_run *r);
void report_close(struct report_run *r);
/*
 * Reads all of @s. Returns 0, -ENODATA if the run has no samples, -ENOMEM, or an error of
 * source_each().
 */
int report_read(struct report_run *r, struct source *s);
/* Reads the summary into @total, which summary_done() frees, and sets the answer of the run. */
void report_answer(struct answer *a, struct report_run *r, struct summary *total);
/*
 * Writes the run as one JSON object, and sets the parts that the page needs. @name is the run or
 * file as the user wrote it. Returns 0 or -ENOMEM.
 */
int report_write_data(struct report_run *r, const char *name, struct page_data *d);

/*
 * Writes {"charts":...} as charts_write() does, of the samples later than @from_ns after the start,
 * up to @to_ns. Returns 0, -ENOMEM, or an error of source_each().
 */
int page_window_write(struct source *s, uint64_t from_ns, uint64_t to_ns, struct jsonw *j);

#endif
