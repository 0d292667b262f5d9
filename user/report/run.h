/* SPDX-License-Identifier: BSD-2-Clause */
/* A run as a report needs it, filled from its parts, wherever these come from. */
#ifndef REPORT_RUN_H
#define REPORT_RUN_H

#include "model/phase.h"
#include "report/charts.h"
#include "report/processes.h"
#include "report/series.h"
#include "source/source.h"

#include <jansson.h>

struct report_run {
	json_t *meta, *summary; /* as they were read; a summary that is not there is made up */
	json_t *events;         /* array */
	json_t *event_counts;   /* object: name -> how many; not all of them may be in @events */
	size_t event_bytes;     /* of @events */
	struct report_charts charts;
	struct report_processes processes;
	struct report_series pushed;
	struct phases phases; /* from mark to mark */
	uint64_t start_epoch_ns;
	uint64_t samples, unreadable; /* parts; lines that are none */
	bool is_cut;                  /* it ends before the run did */
};

/* -ENOMEM. */
int report_open(struct report_run *r);
void report_close(struct report_run *r);
/* Reads all of @s. -ENODATA: the run has no samples; -ENOMEM, or an error of source_each(). */
int report_read(struct report_run *r, struct source *s);
/* The run as one JSON object; -ENOMEM. @name: what the user called it. */
int report_write_data(struct report_run *r, const char *name, struct json *j);

#endif
