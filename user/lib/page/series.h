/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values that programs pushed, as curves of a report. A series is a name, a field and its tags;
 * a chart is a name and a field. The lines are read twice: first points are counted, then those of
 * the series with the most are kept, thinned as samples are.
 */
#ifndef PAGE_SERIES_H
#define PAGE_SERIES_H

#include "base/json.h"
#include "page/downsampler.h"
#include "run/reader.h"

#include <jansson.h>

#define SERIES_CHARTS 8  /* those with the most points */
#define SERIES_CURVES 8  /* of a chart: those with the most points */
#define SERIES_MAX 10000 /* values of further ones are only counted */

struct series {
	json_t *identity; /* owned: [name, field, tags] */
	size_t place;     /* in the order of their first points */
	uint64_t points;  /* numbers and booleans */
	uint64_t texts;   /* values that cannot be drawn */
	bool is_number;   /* not only booleans */
	bool is_drawn;
	struct downsampler sampler; /* if it is drawn */
	double last_seconds;        /* of the previous point */
	unsigned again;             /* earlier points of that same time */
};

struct series_chart {
	uint64_t points; /* of all its series, drawn or not */
	size_t place;    /* of its first series */
	struct series *curve[SERIES_CURVES];
	size_t nr;
};

struct report_series {
	json_t *index; /* owned: an identity as text -> its place */
	struct series *all;
	size_t nr, room, bytes;
	uint64_t others; /* values of series beyond SERIES_MAX */
	struct series_chart chart[SERIES_CHARTS];
	size_t nr_charts;
};

void series_done(struct report_series *p);
/* The first pass: counts the values of a line of the kind metric. -ENOMEM. */
int series_count(struct report_series *p, const struct line *l);
/* Between the passes: chooses the series that are drawn. -ENOMEM. */
int series_choose(struct report_series *p);
/* The second pass, over the same lines: keeps the points that are drawn. -ENOMEM. */
int series_add(struct report_series *p, const struct line *l);
/*
 * "pushed":{"charts":[{"name":...,"field":...,"series":[{"tags":{...},"points":...,"each":...,
 * "boolean":...,"time":[...],"values":[...]}]}],"left_out":{...},"texts":{...},"others":...};
 * nothing if nothing was pushed. -ENOMEM.
 */
int series_write(const struct report_series *p, struct jsonw *j);

#endif
