// SPDX-License-Identifier: BSD-2-Clause
#include "text/curve.h"

#include "base/clock.h"
#include "base/number.h"
#include "text/format.h"

#include <math.h>
#include <string.h>

#define ROWS 4
#define LEFT 14 /* columns before the chart, for the label of the maximum */
#define MIN_COLUMNS 20

static const struct {
	const char *title;
	enum metric_id id;
	bool is_rate;
} rows[NR_CURVES] = {
	[CURVE_CPU] = { "CPU, cores", M_cores, false },
	[CURVE_MEMORY] = { "memory, rss", M_rss, false },
	[CURVE_READ] = { "storage, read per second", M_read, true },
	[CURVE_WRITE] = { "storage, written per second", M_write, true },
};

void curves_init(struct curves *c, uint64_t wall_ns, size_t width)
{
	size_t columns = width > LEFT + MIN_COLUMNS ? width - LEFT : MIN_COLUMNS;

	*c = (struct curves){ .wall_ns = wall_ns ? wall_ns : 1 };
	c->columns = columns < MAX_CURVE_COLUMNS ? columns : MAX_CURVE_COLUMNS;
	for (int k = 0; k < NR_CURVES; k++)
		for (size_t i = 0; i < c->columns; i++)
			c->value[k][i] = -1;
}

void curves_metrics(struct metric_set *set)
{
	memset(set, 0, sizeof(*set));
	for (int k = 0; k < NR_CURVES; k++)
		metric_put(set, rows[k].id);
	metric_put(set, M_cpu); /* for the cores of intervals that are joined */
}

static size_t curves_column_at(const struct curves *c, uint64_t ns)
{
	size_t i = number_clamp(floor((double)ns / (double)c->wall_ns * (double)c->columns));

	return i < c->columns ? i : c->columns - 1;
}

/*
 * The value of a sample applies to the time since the previous sample, so all columns of that time
 * get it.
 */
static void curve_set_value(struct curves *c, enum curve_id k, uint64_t from_ns, uint64_t to_ns,
			    double v)
{
	for (size_t i = curves_column_at(c, from_ns), last = curves_column_at(c, to_ns); i <= last;
	     i++)
		if (v > c->value[k][i])
			c->value[k][i] = v;
}

void curves_add(struct curves *c, const struct sample *s)
{
	uint64_t before = c->has_last ? c->last.elapsed_ns : 0;
	uint64_t took = s->elapsed_ns - before, unmeasured = c->cores.from_ns, milli;

	/* includes intervals that were too short to measure cores */
	if (cores_add(&c->cores, s, &milli))
		curve_set_value(c, CURVE_CPU, unmeasured, s->elapsed_ns, (double)milli);
	for (int k = CURVE_CPU + 1; k < NR_CURVES; k++) {
		enum metric_id id = rows[k].id;

		if (!sample_has(s, id))
			continue;
		if (!rows[k].is_rate)
			curve_set_value(c, k, before, s->elapsed_ns, (double)s->value[id]);
		else if (c->has_last && sample_has(&c->last, id) && took)
			curve_set_value(c, k, before, s->elapsed_ns,
					(double)(s->value[id] - c->last.value[id]) * 1e9 /
						(double)took);
	}
	c->last = *s;
	c->last.instances = NULL; /* not owned */
	c->has_last = true;
}

static double curve_maximum(const struct curves *c, int k)
{
	double top = 0;

	for (size_t i = 0; i < c->columns; i++)
		if (c->value[k][i] > top)
			top = c->value[k][i];
	return top;
}

static void curve_format_maximum(char out[FORMAT_BYTES], int k, double top)
{
	if (k == CURVE_CPU)
		snprintf(out, FORMAT_BYTES, "%.3g", top / 1000);
	else
		format_bytes(out, number_clamp(floor(top)));
}

/* Returns the character of a column in the row whose lower edge is @row rows above the axis. */
static const char *curve_cell_text(double height, int row, bool is_utf8)
{
	static const char *const eighths[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double above = height - row;
	int n;

	if (above <= 0)
		return " ";
	if (!is_utf8)
		return above >= 0.75 ? "#" : above >= 0.25 ? "+" : row ? " " : ".";
	n = above >= 1 ? 8 : (int)(above * 8 + 0.5);
	return eighths[n ? n : !row]; /* keep any value above 0 visible */
}

static void curve_draw(const struct curves *c, int k, FILE *f, bool is_utf8)
{
	double top = curve_maximum(c, k);
	char label[FORMAT_BYTES];

	curve_format_maximum(label, k, top);
	fprintf(f, "\n  %s\n", rows[k].title);
	for (int row = ROWS - 1; row >= 0; row--) {
		fprintf(f, "%*s %s", LEFT - 2,
			row == ROWS - 1 ? label
			: row           ? ""
					: "0",
			is_utf8 ? "│" : "|");
		for (size_t i = 0; i < c->columns; i++)
			fputs(curve_cell_text(c->value[k][i] / top * ROWS, row, is_utf8), f);
		fputc('\n', f);
	}
}

static void curves_draw_times(const struct curves *c, FILE *f)
{
	char half[FORMAT_BYTES], end[FORMAT_BYTES];
	int columns = (int)c->columns, middle = columns / 2;

	format_seconds(half, c->wall_ns / 2);
	format_seconds(end, c->wall_ns);
	fprintf(f, "%*s0 s%*s%*s\n", LEFT, "", middle - 3, half, columns - middle, end);
}

void curves_draw(const struct curves *c, FILE *f, bool is_utf8)
{
	bool has_drawn = false;

	for (int k = 0; k < NR_CURVES; k++) {
		if (curve_maximum(c, k) <= 0)
			continue;
		curve_draw(c, k, f, is_utf8);
		has_drawn = true;
	}
	if (has_drawn)
		curves_draw_times(c, f);
}
