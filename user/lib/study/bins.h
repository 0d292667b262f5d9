/* SPDX-License-Identifier: BSD-2-Clause */
/* Values put into bins with round edges, on a linear or a logarithmic scale. */
#ifndef STUDY_BINS_H
#define STUDY_BINS_H

#include "run/metric.h"
#include "text/format.h"

#define MOST_BINS 64

struct bin {
	double from, to; /* from <= value < to; of the last, and where both are the same, <= to */
	size_t count;
};

struct bins {
	bool is_log; /* edges are powers of two, also half and quarter ones; 0 has a bin of its own
		      */
	size_t nr;   /* 0: there are no values */
	struct bin list[MOST_BINS + 1]; /* upwards; bins without a value between others are there */
};

/*
 * Makes bins of @n sorted values: about as many as the rule of Freedman and Diaconis wants (a
 * width of twice the interquartile range over the cube root of @n), at most @most (3 to MOST_BINS),
 * with round edges in @unit. The scale is logarithmic where the largest is at least ten times the
 * least value above 0, and the middle half of the values has more than twice the share of the axis
 * then.
 */
void bins_make(struct bins *b, const double *sorted, size_t n, enum metric_unit unit, size_t most);
/* Where a value among those is on an axis on which each bin is 1 wide. */
double bins_place(const struct bins *b, double value);

/* Edges of bins as text: with as many digits as it takes that no two look the same. */

struct edge_style {
	enum metric_unit unit;
	int digits;   /* behind the point, of all edges; -1: each as number_format() has it */
	double scale; /* of the one unit that all have then */
	const char *suffix;
};

struct edge_style edge_style_make(const struct bins *b, enum metric_unit unit);
/* Writes into @out (NUMBER_BYTES) and returns it. */
char *edge_format(char *out, const struct edge_style *s, double edge);
/* The lower edge of bin @i, or, of the number of bins, the upper one of the last. */
double bins_edge(const struct bins *b, size_t i);

#endif
