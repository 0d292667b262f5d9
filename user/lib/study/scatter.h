/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws two metrics of many runs against each other, in a terminal and as JSON. */
#ifndef STUDY_SCATTER_H
#define STUDY_SCATTER_H

#include "base/json.h"
#include "study/bins.h"
#include "study/values.h"

#include <stdio.h>

/*
 * Draws the first metric to the right and the second upwards, in lines of @width columns; with
 * @is_utf8 in shaded blocks. Returns 0 or -ENOMEM.
 */
int scatter_draw(FILE *f, const struct many_values *v, size_t width, bool is_utf8);
/* Writes one object in a line; docs/STUDY.md describes it. Returns 0 or -ENOMEM. */
int scatter_json(struct jsonw *j, const struct many_values *v);

/* An axis of a plane: the bins of a metric, each divided into equal cells. */
struct plane_side {
	const struct bins *bins; /* not owned; at least one */
	size_t metric;           /* index in the values */
	size_t parts;            /* cells of each bin */
	size_t cells;            /* cells of all bins */
};

struct plane {
	struct plane_side x, y;
	uint32_t *count; /* owned; [row][column], from the bottom left */
	size_t nr;       /* runs with both metrics */
};

/*
 * Counts the runs that have both metrics. Each bin is divided into as many cells as fit into
 * @most_x or @most_y in total. Returns 0 or -ENOMEM; call plane_done() in any case.
 */
int plane_make(struct plane *p, const struct many_values *v, struct plane_side x,
	       struct plane_side y, size_t most_x, size_t most_y);
void plane_done(struct plane *p);
uint32_t plane_count(const struct plane *p, size_t column, size_t row);
/* Returns 0 for 1 to 3 runs, 1 for 4 to 15, and so on by powers of four, up to @nr - 1. */
unsigned plane_shade(uint32_t count, unsigned nr);

#endif
