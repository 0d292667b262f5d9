/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU, memory and I/O over time, as small charts for a terminal. */
#ifndef TEXT_CURVE_H
#define TEXT_CURVE_H

#include "run/sample.h"

#include <stdbool.h>
#include <stdio.h>

#define MAX_CURVE_COLUMNS 200

enum curve_id { CURVE_CPU, CURVE_MEMORY, CURVE_READ, CURVE_WRITE, NR_CURVES };

struct curves {
	size_t columns;
	uint64_t wall_ns;
	double value[NR_CURVES][MAX_CURVE_COLUMNS]; /* maximum in the time of each column; < 0
						       without a sample */
	struct sample last;
	bool has_last;
	struct cores cores;
};

/* Initializes @c for a run of @wall_ns and a terminal of @width columns. */
void curves_init(struct curves *c, uint64_t wall_ns, size_t width);
void curves_metrics(struct metric_set *set);
void curves_add(struct curves *c, const struct sample *s);
/* Draws the curves that have a value above 0, with Unicode block characters if @is_utf8. */
void curves_draw(const struct curves *c, FILE *f, bool is_utf8);

#endif
