/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs pushed themselves, as curves of a report. A series is a name, a field and its tags;
 * a chart is a name and a field. The points come twice: first they are counted, then those of the
 * series with the most are kept, thinned as samples are.
 */
#ifndef REPORT_SERIES_H
#define REPORT_SERIES_H

#include "base/json.h"
#include "report/thin.h"
#include "wire/reader.h"

#include <jansson.h>

#define SERIES_CHARTS 8  /* those with the most points */
#define SERIES_CURVES 8  /* of a chart, likewise */
#define SERIES_MAX 10000 /* that are told apart */

struct series {
	json_t *identity; /* owned: [name, field, tags] */
	size_t place;     /* in the order of their first points */
	uint64_t points;  /* numbers and booleans */
	uint64_t texts;   /* what cannot be drawn */
	bool is_number;   /* not only booleans */
	bool is_drawn;
	struct thin thin;    /* if it is drawn */
	double last_seconds; /* of the point before */
	unsigned again;      /* points at that time before this one */
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
	uint64_t others; /* values of series beyond those that are told apart */
	struct series_chart chart[SERIES_CHARTS];
	size_t nr_charts;
};

void series_done(struct report_series *p);
/* Lines of the kind metric, all of them; -ENOMEM. */
int series_count(struct report_series *p, const struct line *l);
/* They have been counted: chooses which are drawn. -ENOMEM. */
int series_choose(struct report_series *p);
/* The same lines again; -ENOMEM. */
int series_add(struct report_series *p, const struct line *l);
/*
 * "pushed":{"charts":[{"name":...,"field":...,"series":[{"tags":{...},"points":...,"each":...,
 * "boolean":...,"time":[...],"values":[...]}]}],"left_out":{...},"texts":{...},"others":...};
 * nothing where nothing was pushed. -ENOMEM.
 */
int series_write(const struct report_series *p, struct json *j);

#endif
