/* SPDX-License-Identifier: BSD-2-Clause */
/* Two metrics of many runs in a plane: how many runs are in each cell of it. */
#ifndef STUDY_PLANE_H
#define STUDY_PLANE_H

#include "study/bins.h"
#include "study/values.h"

/* A side of the plane: the bins of a metric, each divided into equal parts. */
struct plane_side {
	const struct bins *bins; /* not owned; at least one */
	size_t metric;           /* of the values */
	size_t parts;            /* of each bin */
	size_t cells;            /* of all bins */
};

struct plane {
	struct plane_side x, y;
	uint32_t *count; /* owned; [row][column], upwards and to the right */
	size_t nr;       /* runs with both metrics */
};

/*
 * Counts the runs that have both metrics. Each bin is one cell or, where as many fit into @most
 * cells, several. -ENOMEM; to be released in any case.
 */
int plane_make(struct plane *p, const struct many_values *v, struct plane_side x,
	       struct plane_side y, size_t most_x, size_t most_y);
void plane_done(struct plane *p);
uint32_t plane_count(const struct plane *p, size_t column, size_t row);
/* 0 for 1 to 3 runs, 1 for 4 to 15, and so on by powers of four; @nr - 1 at most. */
unsigned plane_shade(uint32_t count, unsigned nr);

#endif
