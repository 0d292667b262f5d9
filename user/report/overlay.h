/* SPDX-License-Identifier: BSD-2-Clause */
/* The curves of several runs in the same charts, over the time since the start of each. */
#ifndef REPORT_OVERLAY_H
#define REPORT_OVERLAY_H

#include "base/json.h"
#include "report/charts.h"
#include "source/source.h"

#define OVERLAY_RUNS 12 /* more curves in a chart cannot be distinguished */

struct overlay_run {
	const char *label, *name; /* not owned */
	unsigned colour;
	struct report_charts charts;
};

struct overlay {
	struct overlay_run run[OVERLAY_RUNS];
	size_t nr;
	size_t room; /* runs that will be added: they share CHART_ROOM */
};

/* Reads the samples of @src as the next run. An error of source_each(), or -ENOMEM. */
int overlay_add(struct overlay *o, const char *label, const char *name, unsigned colour,
		struct source *src);
void overlay_done(struct overlay *o);
/*
 * Writes one JSON object: charts as those of charts_write(), with a curve for each run;
 * @comparison, a text that is shown below; @left_out, the number of runs not drawn. -ENOMEM.
 */
int overlay_write(const struct overlay *o, const char *comparison, size_t left_out,
		  struct jsonw *j);

#endif
