/* SPDX-License-Identifier: BSD-2-Clause */
/* The curves of several runs in the same charts, over the time since the start of each. */
#ifndef REPORT_OVERLAY_H
#define REPORT_OVERLAY_H

#include "base/json.h"
#include "report/charts.h"
#include "source/source.h"

#define OVERLAY_RUNS 12 /* more of them nobody tells apart */

struct overlay_run {
	const char *label, *name; /* not owned */
	unsigned colour;
	struct report_charts charts;
};

struct overlay {
	struct overlay_run run[OVERLAY_RUNS];
	size_t nr;
	size_t room; /* runs that will be added */
};

/* Adds the run that @src gives. Errors of source_each(), -ENOMEM. */
int overlay_add(struct overlay *o, const char *label, const char *name, unsigned colour,
		struct source *src);
void overlay_done(struct overlay *o);
/*
 * As one JSON object, charts as charts_write() has them with a curve for each run; @comparison is a
 * text to be shown below, @left_out how many runs are not drawn. -ENOMEM.
 */
int overlay_write(const struct overlay *o, const char *comparison, size_t left_out, struct json *j);

#endif
