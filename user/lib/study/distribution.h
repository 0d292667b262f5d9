/* SPDX-License-Identifier: BSD-2-Clause */
/* The distribution of a metric over many runs, as a terminal chart and as JSON. */
#ifndef STUDY_DISTRIBUTION_H
#define STUDY_DISTRIBUTION_H

#include "base/buffer.h"
#include "base/json.h"
#include "study/bins.h"
#include "study/values.h"

#include <stdio.h>

struct distribution {
	const char *key;
	enum metric_unit unit;
	size_t nr, nr_absent;                    /* runs with and without a known value */
	double least, q1, median, q3, p95, most; /* if nr > 0 */
	struct bins bins;
};

/*
 * Makes the distribution of a metric in at most @most bins (3 to MOST_BINS). Returns 0 or -ENOMEM.
 */
int distribution_make(struct distribution *d, const struct many_values *v, size_t metric,
		      size_t most);
/* Appends its figures as a sentence without a full stop. */
void distribution_put_figures(struct buffer *t, const struct distribution *d);
/*
 * Draws it in lines of @width columns; with @is_utf8 bars have eighths of blocks. Returns 0 or
 * -ENOMEM.
 */
int distribution_draw(FILE *f, const struct distribution *d, size_t width, bool is_utf8);
/* Writes one object in a line; docs/STUDY.md describes it. */
void distribution_json(struct jsonw *j, const struct distribution *d);
/* Writes only the members "scale" and "bins". */
void distribution_json_bins(struct jsonw *j, const struct distribution *d);

#endif
