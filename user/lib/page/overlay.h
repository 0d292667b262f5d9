/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several runs in the same charts, over the time since the start of each: groups of runs, each of
 * which is a curve, of several runs their median with a band from quartile to quartile.
 */
#ifndef PAGE_OVERLAY_H
#define PAGE_OVERLAY_H

#include "base/json.h"
#include "page/charts.h"
#include "store/source.h"

#include <jansson.h>

#define OVERLAY_GROUPS 12 /* more curves in a chart cannot be distinguished */
#define OVERLAY_RUNS 100  /* of all groups */

struct overlay_run {
	const char *name; /* not owned; as the run was named */
	size_t group;
	json_t *meta; /* owned; its line, NULL: it has none */
	struct report_charts charts;
};

struct overlay {
	struct overlay_run run[OVERLAY_RUNS];
	size_t nr;
	size_t room; /* runs that will be added: they share CHART_ROOM */
};

/*
 * Reads @src as the next run, of the group number @group, below OVERLAY_GROUPS. An error of
 * source_each(), or -ENOMEM.
 */
int overlay_add(struct overlay *o, const char *name, size_t group, struct source *src);
void overlay_done(struct overlay *o);
/*
 * Writes one JSON object: "runs", with what each was; charts as those of charts_write(), with a
 * curve for each group, and "bands" for those of several runs; "comparison": the document
 * @comparison; "steps": those of comparison_steps_brief(), or NULL; @left_out, the number of runs
 * not drawn. -ENOMEM.
 */
int overlay_write(const struct overlay *o, const struct jsonw *comparison,
		  const struct jsonw *steps, size_t left_out, struct jsonw *j);

#endif
