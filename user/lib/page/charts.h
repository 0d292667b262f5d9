/* SPDX-License-Identifier: BSD-2-Clause */
/* The curves of a report: gauges as read, counters as rates. */
#ifndef PAGE_CHARTS_H
#define PAGE_CHARTS_H

#include "base/json.h"
#include "run/sample.h"
#include "page/downsampler.h"
#include "run/metric.h"

/* The charts of a report, for page and SVG alike: the metrics drawn together, and how. */

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
	unsigned colour; /* its number after COLOUR_SERIES, in plot.h */
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

#define CHART_ROOM 1024 /* more samples than these are thinned */

/* The sample of a chart's latest row: what the next rates count from. */
struct chart_last {
	bool is_there;
	uint64_t elapsed_ns;
	uint64_t value[NR_METRICS];
	struct metric_set have;
};

struct report_charts {
	struct downsampler sampler[NR_CHARTS];
	struct metric_set seen, above_zero; /* in any sample */
	uint64_t last_elapsed_ns;           /* of the previous sample */
	struct chart_last *last;            /* owned: of other charts, of those of cores */
	struct cores cores;
	bool has_alive;                           /* a sample found a process */
	uint64_t alive_ns;                        /* the latest that did */
	uint64_t empty;                           /* samples since */
	struct downsampler_row newest[NR_CHARTS]; /* rows as they came, for charts_write_newest() */
	bool is_new[NR_CHARTS];
};

/* 0 or -ENOMEM. */
int charts_init(struct report_charts *c);
void charts_done(struct report_charts *c);
/* Adds the metrics that are drawn to @set: no others need be read. */
void charts_add_metrics(struct metric_set *set);
/*
 * Takes the next sample; one that is not later than the previous one is ignored. One so soon after
 * another that its cores cannot be measured has no row among those of CPU.
 */
void charts_add(struct report_charts *c, const struct sample *s);
/* True if there is something to draw: a rare curve needs a value above 0. */
bool charts_has_curve(const struct report_charts *c, const struct curve_spec *curve);
/*
 * The rows of chart @i as page and picture draw them, to be freed; NULL without memory. Gauges end
 * with the last sample that found a process.
 */
struct downsampler_row *charts_get_rows(const struct report_charts *c, size_t i, size_t *nr);
/*
 * "charts":{"cpu":{"title":...,"curves":[...],"samples":...,"each":...,"time":[...],"columns":
 * {key:[...]}}}; -ENOMEM. A rate is per second, over the time since the previous row. A name as
 * "time": the times are the first ones of that chart.
 */
int charts_write(const struct report_charts *c, struct jsonw *j);

/*
 * The rows that the last sample has added, each with all curves of its chart, drawn or not:
 * "charts":{"cpu":{"time":...,"cores":...}}. Each is written once.
 */
void charts_write_newest(struct report_charts *c, struct jsonw *j);

#endif
