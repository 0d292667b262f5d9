// SPDX-License-Identifier: BSD-2-Clause
#include "study/scatter.h"

#include "base/memory.h"
#include "study/bins.h"
#include "study/distribution.h"
#include "text/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BINS_SIDE 20
#define LEAST_COLUMNS 3
#define MOST_COLUMNS 72
#define MOST_ROWS 20
#define SHADES 5
#define INDENT 2

struct scatter_style {
	const char *shades[SHADES], *side, *corner, *line, *tick;
};

static const struct scatter_style styles[] = {
	{ { ".", ":", "+", "#", "@" }, "|", "+", "-", "+" },
	{ { "·", "░", "▒", "▓", "█" }, "│", "└", "─", "┬" },
};

struct scatter {
	struct distribution x, y;
	struct plane plane;
	struct edge_style x_style, y_style;
	size_t label; /* width of the labels of rows */
};

static size_t scatter_label(const struct distribution *d)
{
	const struct edge_style style = edge_style_make(&d->bins, d->unit);
	char text[NUMBER_BYTES];
	size_t label = 0, used;

	for (size_t i = 0; i < d->bins.nr; i++) {
		used = strlen(edge_format(text, &style, d->bins.list[i].from));
		label = used > label ? used : label;
	}
	return label;
}

/* A point is a single cell, as wide as its label and one row high. */
static bool distribution_is_point(const struct distribution *d)
{
	return d->bins.nr == 1 && d->bins.list[0].from == d->bins.list[0].to;
}

/* Makes a plane whose cells fit into @width columns; with @width 0, a cell for each bin. */
static int scatter_make(struct scatter *s, const struct many_values *v, size_t width)
{
	struct plane_side x = { .bins = &s->x.bins, .metric = 0 },
			  y = { .bins = &s->y.bins, .metric = 1 };
	size_t columns = MOST_BINS_SIDE, used;

	if (distribution_make(&s->y, v, y.metric, MOST_BINS_SIDE))
		return -ENOMEM;
	s->label = scatter_label(&s->y);
	used = INDENT + s->label + 2;
	if (width)
		columns = width > used + LEAST_COLUMNS ? width - used : LEAST_COLUMNS;
	columns = columns < MOST_COLUMNS ? columns : MOST_COLUMNS;
	if (distribution_make(&s->x, v, x.metric,
			      columns < MOST_BINS_SIDE ? columns : MOST_BINS_SIDE))
		return -ENOMEM;
	s->x_style = edge_style_make(&s->x.bins, s->x.unit);
	s->y_style = edge_style_make(&s->y.bins, s->y.unit);
	if (!s->x.nr || !s->y.nr)
		return 0;
	if (!width)
		return plane_make(&s->plane, v, x, y, 1, 1);
	if (distribution_is_point(&s->x))
		columns = scatter_label(&s->x);
	return plane_make(&s->plane, v, x, y, columns,
			  distribution_is_point(&s->y) ? 1 : MOST_ROWS);
}

static struct scatter *scatter_new(const struct many_values *v, size_t width)
{
	struct scatter *s = memory_calloc(1, sizeof(*s));

	if (!s || !scatter_make(s, v, width))
		return s;
	plane_done(&s->plane);
	free(s);
	return NULL;
}

static void scatter_free(struct scatter *s)
{
	plane_done(&s->plane);
	free(s);
}

static int scatter_put_title(FILE *f, const struct scatter *s, size_t runs, size_t width)
{
	struct buffer t = { 0 };
	char count[FORMAT_BYTES];

	buffer_printf(&t, "%s to the right, %s upwards: %s run%s", s->x.key, s->y.key,
		      format_count(count, s->plane.nr), s->plane.nr == 1 ? "" : "s");
	if (runs > s->plane.nr)
		buffer_printf(&t, "; %s more lack%s one of the two values",
			      format_count(count, runs - s->plane.nr),
			      runs - s->plane.nr == 1 ? "s" : "");
	for (int i = 0; i < 2; i++) {
		const struct distribution *d = i ? &s->y : &s->x;

		if (d->bins.is_log)
			buffer_printf(&t, "; logarithmic scale of %s", d->key);
	}
	return format_folded_buffer(f, &t, width, INDENT);
}

/* The label of a bin is its lower edge, in its lowest row. */
static void scatter_put_row(FILE *f, const struct scatter *s, size_t row,
			    const struct scatter_style *style)
{
	const struct plane *p = &s->plane;
	char text[NUMBER_BYTES] = "";
	size_t blanks = 0;

	if (row % p->y.parts == 0)
		edge_format(text, &s->y_style, s->y.bins.list[row / p->y.parts].from);
	fprintf(f, "%*s%*s %s", INDENT, "", (int)s->label, text, style->side);
	for (size_t column = 0; column < p->x.cells; column++) {
		uint32_t count = plane_count(p, column, row);

		if (count)
			fprintf(f, "%*s%s", (int)blanks, "",
				style->shades[plane_shade(count, SHADES)]);
		blanks = count ? 0 : blanks + 1;
	}
	fputc('\n', f);
}

/* Draws ticks at the left edges of bins whose labels fit, and the labels below. */
static int scatter_put_axis(FILE *f, const struct scatter *s, const struct scatter_style *style)
{
	const struct plane_side *x = &s->plane.x;
	struct buffer labels = { 0 };
	char text[NUMBER_BYTES];
	int err;

	fprintf(f, "%*s%s", (int)(INDENT + s->label + 1), "", style->corner);
	for (size_t column = 0; column < x->cells; column++) {
		bool fits = column % x->parts == 0 &&
			    (!column || column >= labels.used + 2); /* two blanks between */

		if (fits) {
			edge_format(text, &s->x_style, s->x.bins.list[column / x->parts].from);
			fits = column + strlen(text) <= x->cells;
		}
		if (fits)
			buffer_printf(&labels, "%*s%s", (int)(column - labels.used), "", text);
		fputs(fits ? style->tick : style->line, f);
	}
	buffer_put(&labels, "", 1);
	err = labels.failed ? -ENOMEM : 0;
	if (!err)
		fprintf(f, "\n%*s%s\n", (int)(INDENT + s->label + 2), "", labels.text);
	buffer_done(&labels);
	return err;
}

static void scatter_put_shades(FILE *f, const struct scatter_style *style, size_t width)
{
	char text[128];
	size_t n = (size_t)snprintf(text, sizeof(text), "runs in a cell, from");

	for (unsigned i = 0, from = 1; i < SHADES; i++, from *= 4)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %u %s", i ? "," : "", from,
				      style->shades[i]);
	fprintf(f, "%*s", INDENT, "");
	format_folded(f, text, width > INDENT ? width - INDENT : 1, INDENT);
}

int scatter_draw(FILE *f, const struct many_values *v, size_t width, bool is_utf8)
{
	const struct scatter_style *style = &styles[is_utf8];
	struct scatter *s = scatter_new(v, width);
	int err;

	if (!s)
		return -ENOMEM;
	err = scatter_put_title(f, s, v->nr, width);
	if (!err && s->plane.nr) {
		for (size_t row = s->plane.y.cells; row--;)
			scatter_put_row(f, s, row, style);
		err = scatter_put_axis(f, s, style);
		scatter_put_shades(f, style, width);
	}
	scatter_free(s);
	return err;
}

static void scatter_put_side(struct jsonw *j, const char *side, const struct distribution *d)
{
	jsonw_object(j, side);
	jsonw_string(j, "metric", d->key);
	distribution_json_bins(j, d);
	jsonw_object_end(j);
}

int scatter_json(struct jsonw *j, const struct many_values *v)
{
	struct scatter *s = scatter_new(v, 0);

	if (!s)
		return -ENOMEM;
	jsonw_object(j, NULL);
	jsonw_schema(j, "list-scatter");
	jsonw_uint(j, "count", s->plane.nr);
	jsonw_uint(j, "absent", v->nr - s->plane.nr);
	scatter_put_side(j, "x", &s->x);
	scatter_put_side(j, "y", &s->y);
	jsonw_array(j, "cells");
	for (size_t i = 0; i < s->plane.x.cells * s->plane.y.cells; i++) {
		size_t x = i % s->plane.x.cells, y = i / s->plane.x.cells;
		uint32_t count = plane_count(&s->plane, x, y);

		if (!count)
			continue;
		jsonw_object(j, NULL);
		jsonw_uint(j, "x", x);
		jsonw_uint(j, "y", y);
		jsonw_uint(j, "count", count);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	jsonw_object_end(j);
	jsonw_newline(j);
	scatter_free(s);
	return j->failed ? -ENOMEM : 0;
}

static void side_divide(struct plane_side *s, size_t most)
{
	s->parts = s->bins->nr && most > s->bins->nr ? most / s->bins->nr : 1;
	s->cells = s->parts * s->bins->nr;
}

static size_t side_cell(const struct plane_side *s, double value)
{
	size_t cell = (size_t)(bins_place(s->bins, value) * (double)s->parts);

	return cell < s->cells ? cell : s->cells - 1;
}

int plane_make(struct plane *p, const struct many_values *v, struct plane_side x,
	       struct plane_side y, size_t most_x, size_t most_y)
{
	*p = (struct plane){ .x = x, .y = y };
	side_divide(&p->x, most_x);
	side_divide(&p->y, most_y);
	p->count = memory_calloc(p->x.cells * p->y.cells, sizeof(*p->count));
	if (!p->count)
		return -ENOMEM;
	for (size_t i = 0; i < v->nr; i++) {
		double a = many_value(v, x.metric, i), b = many_value(v, y.metric, i);

		if (isnan(a) || isnan(b))
			continue;
		p->count[side_cell(&p->y, b) * p->x.cells + side_cell(&p->x, a)]++;
		p->nr++;
	}
	return 0;
}

void plane_done(struct plane *p)
{
	free(p->count);
	p->count = NULL;
}

uint32_t plane_count(const struct plane *p, size_t column, size_t row)
{
	return p->count[row * p->x.cells + column];
}

unsigned plane_shade(uint32_t count, unsigned nr)
{
	unsigned shade = 0;

	for (; count >= 4 && shade + 1 < nr; count /= 4)
		shade++;
	return shade;
}
