/* SPDX-License-Identifier: BSD-2-Clause */
/* Bins with round edges, on a linear or logarithmic scale, and the text of their edges. */
#ifndef STUDY_BINS_H
#define STUDY_BINS_H

#include "run/metric.h"
#include "text/format.h"

#define MOST_BINS 64

struct bin {
	double from, to; /* from <= value < to; <= to for the last bin, and if both are equal */
	size_t count;
};

struct bins {
	bool is_log; /* edges are powers of two, in half or quarter steps; 0 has a bin of its own */
	size_t nr;   /* 0 if there are no values */
	struct bin list[MOST_BINS + 1]; /* ascending, including empty bins */
};

/*
 * Makes bins of @n sorted values, with round edges in @unit: about as many as by the rule of
 * Freedman and Diaconis (a width of twice the interquartile range over the cube root of @n), at
 * most @most (3 to MOST_BINS). The scale is logarithmic if the largest value is at least ten times
 * the smallest above 0, and the middle half of the values then has more than twice the share of the
 * axis.
 */
void bins_make(struct bins *b, const double *sorted, size_t n, enum metric_unit unit, size_t most);
/* Returns the position of a value on an axis where each bin is 1 wide. */
double bins_place(const struct bins *b, double value);

/* How edges are printed: with enough digits to tell them apart. */
struct edge_style {
	enum metric_unit unit;
	int digits;   /* decimals of all edges; -1: number_format() decides for each */
	double scale; /* of the common unit, if digits >= 0 */
	const char *suffix;
};

struct edge_style edge_style_make(const struct bins *b, enum metric_unit unit);
/* Writes the text of @edge to @out (NUMBER_BYTES) and returns @out. */
char *edge_format(char *out, const struct edge_style *s, double edge);
/* Returns the lower edge of bin @i, or the upper edge of the last bin if @i is b->nr. */
double bins_edge(const struct bins *b, size_t i);

#endif
