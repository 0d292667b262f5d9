/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The charts of a report, for page and SVG: which metrics are drawn together, and their values over
 * time. Gauges are drawn as read, counters as rates.
 */
#ifndef PAGE_CHARTS_H
#define PAGE_CHARTS_H

#include "base/json.h"
#include "run/sample.h"
#include "page/downsampler.h"
#include "run/metric.h"

#define NR_CHARTS 13

enum chart_unit {
	CHART_CORES,
	CHART_MEMORY, /* bytes, with the limits and the peak of the run's memory */
	CHART_BYTES,
	CHART_BYTE_RATE,
	CHART_COUNT,
	CHART_COUNT_RATE,
	CHART_SHARE, /* share of the time */
	CHART_GPUS,
	CHART_WATTS,
	NR_CHART_UNITS
};

enum curve_style {
	CURVE_LINE,
	CURVE_DASHED,
	CURVE_STACKED, /* area on top of the previous ones */
	CURVE_HIDDEN,  /* a line that the user can switch on in the page */
	NR_CURVE_STYLES
};

struct curve_spec {
	enum metric_id id;
	const char *label;
	unsigned colour; /* offset from COLOUR_SERIES, see plot.h */
	enum curve_style style;
	bool is_rare; /* omitted if it is always 0 */
};

struct chart_spec {
	const char *name, *title, *what; /* @what is the quantity of its axis */
	enum chart_unit unit;
	unsigned nr;
	struct curve_spec curve[DOWNSAMPLER_COLUMNS];
};

extern const struct chart_spec chart_specs[NR_CHARTS];

/*
 * Returns true if no curve is the total of the stacked ones. The column after the last curve then
 * has their sum.
 */
bool chart_has_sum(const struct chart_spec *spec);

/* Returns the index of the chart @name, or NR_CHARTS if there is none. */
size_t chart_find(const char *name);
/*
 * Return the names that the data of a page uses, such as "cores", "byte_rate"; "line", "stacked".
 */
const char *chart_unit_name(enum chart_unit unit);
const char *curve_style_name(enum curve_style style);

#define CHART_ROOM 1024 /* buckets per chart; of more samples several share one */

/* The sample of the latest row of a chart, from which the next rates are computed. */
struct chart_last {
	bool is_there;
	uint64_t elapsed_ns;
	uint64_t value[NR_METRICS];
	struct metric_set have;
};

#define CHART_IDLE 3 /* trailing samples without a process; more are an idle time */

struct chart_row {
	struct downsampler_row row;
	double weight;
};

struct report_charts {
	struct downsampler sampler[NR_CHARTS];
	struct metric_set seen, above_zero; /* in any sample */
	uint64_t from_ns;                   /* earlier samples only give the first rates */
	bool shows_rare;                    /* draw rare curves that are always 0, too */
	uint64_t last_elapsed_ns;           /* time of the previous sample */
	struct chart_last *last; /* owned; [0] for other charts, [1] for charts of cores */
	struct cores cores;
	bool has_alive; /* a sample found a process */
	uint64_t empty; /* samples since then */
	size_t nr_idle;
	struct chart_row idle[NR_CHARTS][CHART_IDLE]; /* of gauges, not yet in @sampler */
	struct downsampler_row newest[NR_CHARTS];     /* rows for charts_write_newest() */
	bool is_new[NR_CHARTS];
};

/* Up to @room samples, an even number, are kept unchanged. Returns 0 or -ENOMEM. */
int charts_init(struct report_charts *c, size_t room);
void charts_done(struct report_charts *c);
void charts_add_metrics(struct metric_set *set);
/*
 * Adds a sample. Ignores it if it is not later than the previous one. The charts of cores get no
 * row if the sample follows the previous one too soon to measure cores.
 */
void charts_add(struct report_charts *c, const struct sample *s);
/* Returns true if there is something to draw. A rare curve needs a value above 0. */
bool charts_has_curve(const struct report_charts *c, const struct curve_spec *curve);
/*
 * Returns the buckets of chart @i as page and SVG draw them. Gauges end with the last sample that
 * found a process. The caller frees them. NULL without memory.
 */
struct downsampler_bucket *charts_get(const struct report_charts *c, size_t i, size_t *nr);
/*
 * Writes
 * "charts":{"cpu":{"title":...,"curves":[...],"samples":...,"each":...,"time":[...],"columns":
 * {key:[...]},"least":{...},"most":{...}}}. Columns have means over the time since the previous
 * row. If a row is for several samples, "least" and "most" have their extremes: "most" of each
 * curve, "least" of curves that are not stacked, and both of "sum" if chart_has_sum(). Rates are
 * per second. A string as "time" names an earlier chart with the same times. Returns 0 or -ENOMEM.
 */
int charts_write(const struct report_charts *c, struct jsonw *j);

/*
 * Writes the rows that the last sample added, with all curves, also those that are not drawn:
 * "charts":{"cpu":{"time":...,"cores":...}}. Each row is written only once.
 */
void charts_write_newest(struct report_charts *c, struct jsonw *j);

#endif
