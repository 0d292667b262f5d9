/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values that programs pushed, as curves of a report. A series is a name, a field and its tags; a
 * chart is a name and a field. The lines are read twice: the first pass counts points, the second
 * keeps those of the series with the most points, downsampled.
 */
#ifndef PAGE_SERIES_H
#define PAGE_SERIES_H

#include "base/json.h"
#include "page/downsampler.h"
#include "run/reader.h"

#include <jansson.h>

#define SERIES_CHARTS 8  /* those with the most points */
#define SERIES_CURVES 8  /* curves per chart, those with the most points */
#define SERIES_MAX 10000 /* values of further series are only counted */

struct series {
	json_t *identity; /* owned: [name, field, tags] */
	size_t place;     /* index in the order of first points */
	uint64_t points;  /* numbers and booleans */
	uint64_t texts;   /* values that cannot be drawn */
	bool is_number;   /* not only booleans */
	bool is_drawn;
	struct downsampler sampler; /* set if @is_drawn */
	double last_seconds;        /* time of the previous point */
	unsigned again;             /* earlier points of that same time */
};

struct series_chart {
	uint64_t points; /* of all its series, drawn or not */
	size_t place;    /* of its first series */
	struct series *curve[SERIES_CURVES];
	size_t nr;
};

struct report_series {
	json_t *index; /* owned: identity as text -> index */
	struct series *all;
	size_t nr, room, bytes;
	uint64_t others; /* values of series beyond SERIES_MAX */
	struct series_chart chart[SERIES_CHARTS];
	size_t nr_charts;
};

void series_done(struct report_series *p);
/* First pass: counts the values of a line of kind metric. Returns 0 or -ENOMEM. */
int series_count(struct report_series *p, const struct line *l);
/* Between the passes: chooses the series to draw. Returns 0 or -ENOMEM. */
int series_choose(struct report_series *p);
/* Second pass, over the same lines: keeps the points to draw. Returns 0 or -ENOMEM. */
int series_add(struct report_series *p, const struct line *l);
/*
 * Writes
 * "pushed":{"charts":[{"name":...,"field":...,"series":[{"tags":{...},"points":...,"each":...,
 * "boolean":...,"time":[...],"values":[...],"least":[...],"most":[...]}]}],"left_out":{...},
 * "texts":{...},"others":...}, or nothing if nothing was pushed. Extremes are written if a point
 * is for several. Returns 0 or -ENOMEM.
 */
int series_write(const struct report_series *p, struct jsonw *j);

#endif
