/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges of bins as text: with as many digits as it takes that no two look the same. */
#ifndef STUDY_EDGES_H
#define STUDY_EDGES_H

#include "text/compared_number.h"
#include "study/bins.h"

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
