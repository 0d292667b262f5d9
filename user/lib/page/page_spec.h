/* SPDX-License-Identifier: BSD-2-Clause */
/* The charts of a report, for page and SVG alike: the metrics drawn together, and how. */
#ifndef PAGE_PAGE_SPEC_H
#define PAGE_PAGE_SPEC_H

#include "run/metric.h"
#include "page/downsampler.h"

#define NR_CHARTS 8

enum chart_unit {
	CHART_CORES,
	CHART_BYTES,
	CHART_BYTE_RATE,
	CHART_COUNT,
	CHART_COUNT_RATE,
	CHART_SHARE, /* of the time */
	NR_CHART_UNITS
};

enum curve_style {
	CURVE_LINE,
	CURVE_DASHED,
	CURVE_STACKED, /* an area, on top of the previous ones */
	CURVE_HIDDEN,  /* a line that can be switched on in the page */
	NR_CURVE_STYLES
};

struct curve_spec {
	enum metric_id id;
	const char *label;
	unsigned colour; /* its number in page.css and panel.c */
	enum curve_style style;
	bool is_rare; /* not drawn if it is 0 all the time */
};

struct chart_spec {
	const char *name, *title, *what; /* @what: the quantity of its axis */
	enum chart_unit unit;
	unsigned nr;
	struct curve_spec curve[DOWNSAMPLER_COLUMNS];
};

extern const struct chart_spec chart_specs[NR_CHARTS];

/* The number of the chart called @name; NR_CHARTS: there is none. */
size_t chart_find(const char *name);
/* The names in the page's data: "cores", "byte_rate"; "line", "stacked". */
const char *chart_unit_name(enum chart_unit unit);
const char *curve_style_name(enum curve_style style);

#endif
