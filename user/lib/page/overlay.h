/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws several runs in the same charts, over the time since the start of each. Each group of runs
 * is a curve. A group of several runs is drawn as its median, with a band between the quartiles.
 */
#ifndef PAGE_OVERLAY_H
#define PAGE_OVERLAY_H

#include "base/json.h"
#include "page/charts.h"
#include "store/source.h"

#include <jansson.h>

#define OVERLAY_GROUPS 12 /* further curves in a chart could not be distinguished */
#define OVERLAY_RUNS 100  /* of all groups */

struct overlay_run {
	const char *name; /* name of the run as the user wrote it; not owned */
	size_t group;
	json_t *meta; /* owned meta line, may be NULL */
	struct report_charts charts;
};

struct overlay {
	struct overlay_run run[OVERLAY_RUNS];
	size_t nr;
	size_t room; /* expected number of runs, which share CHART_ROOM */
};

/*
 * Reads @src as the next run of group @group (< OVERLAY_GROUPS). Returns 0, -ENOMEM or an error of
 * source_each().
 */
int overlay_add(struct overlay *o, const char *name, size_t group, struct source *src);
void overlay_done(struct overlay *o);
/*
 * Writes one JSON object: "runs" describes each run; "charts" as in charts_write(), with a curve
 * per group, and "bands" for groups of several runs; "comparison" is the document @comparison;
 * "steps" is the output of comparison_steps_brief(), if @steps is not NULL; "left_out" is the
 * number of runs not drawn. Returns 0 or -ENOMEM.
 */
int overlay_write(const struct overlay *o, const struct jsonw *comparison,
		  const struct jsonw *steps, size_t left_out, struct jsonw *j);

#endif
