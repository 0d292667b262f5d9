/* SPDX-License-Identifier: BSD-2-Clause */
/* A run as a report needs it, filled from the lines of any source. */
#ifndef PAGE_PAGE_RUN_H
#define PAGE_PAGE_RUN_H

#include "run/phase.h"
#include "run/stall_state.h"
#include "page/charts.h"
#include "page/held.h"
#include "page/page.h"
#include "page/processes.h"
#include "page/series.h"
#include "page/page_spans.h"
#include "store/source.h"

#include <jansson.h>

struct report_run {
	json_t *meta, *summary; /* as read; a missing summary is made of the other lines */
	json_t *events;         /* array */
	json_t *event_counts;   /* object: name -> number; @events may have fewer */
	size_t event_bytes;     /* of @events */
	struct report_charts charts;
	struct report_held held;
	struct report_processes processes;
	struct report_spans spans;
	struct report_series pushed;
	struct phases phases;     /* from mark to mark */
	struct phase_times times; /* of the same: for the answer */
	struct stall_state stall; /* as its last event has it */
	uint64_t start_epoch_ns;
	uint64_t samples, unreadable; /* lines; those that are none of a run's */
	bool is_cut;                  /* the lines end before the run did */
	bool is_running;              /* it goes on, in a store */
};

/* 0 or -ENOMEM; report_close() in any case. */
int report_open(struct report_run *r);
void report_close(struct report_run *r);
/* Reads all of @s. -ENODATA: the run has no samples; -ENOMEM, or an error of source_each(). */
int report_read(struct report_run *r, struct source *s);
/*
 * Writes the run as one JSON object, and sets the parts of the page that it has. @name: of the run
 * or file, as the user wrote it. Returns 0 or -ENOMEM.
 */
int report_write_data(struct report_run *r, const char *name, struct page_data *d);

#endif
