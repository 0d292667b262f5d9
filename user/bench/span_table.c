// SPDX-License-Identifier: BSD-2-Clause
#include "bench/span_table.h"

#include "bench/label.h"
#include "compare/number.h"
#include "view/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SPANS 8 /* shown; those with the most time */
#define TITLE "spans (median)"

struct span_row {
	const struct step *step;
	double *medians; /* owned; of each group, NAN: no run of it has the span */
	double most;     /* of these */
};

struct span_rows {
	struct span_row *list; /* owned; the most time first */
	size_t nr, shown;
};

/* A run has the sum of its spans of this name. */
static double span_median(const struct bench_result *r, const struct step *s, size_t group,
			  size_t key, double *room)
{
	const struct group *g = &r->groups.list[group];
	struct measure m;
	size_t nr = 0;

	for (size_t i = 0; i < g->nr; i++) {
		double value = s->sides[g->sides[i] - r->runs->list].value[key];

		if (!isnan(value))
			room[nr++] = value;
	}
	measure_make(&m, room, nr);
	return m.median;
}

static int span_row_fill(struct span_row *row, const struct bench_result *r, const struct step *s,
			 double *room)
{
	size_t key;

	*row = (struct span_row){ .step = s, .most = -1 };
	row->medians = calloc(r->groups.nr, sizeof(*row->medians));
	if (!row->medians || compare_key_find("wall_seconds", strlen("wall_seconds"), &key))
		return -ENOMEM;
	for (size_t g = 0; g < r->groups.nr; g++) {
		row->medians[g] = span_median(r, s, g, key, room);
		row->most = fmax(row->most, row->medians[g]);
	}
	return 0;
}

static int span_row_compare(const void *a, const void *b)
{
	const struct span_row *x = a, *y = b;

	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return strcmp(x->step->name, y->step->name);
}

static void span_rows_done(struct span_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		free(rows->list[i].medians);
	free(rows->list);
}

static int span_rows_make(struct span_rows *rows, const struct bench_result *r)
{
	double *room = calloc(r->groups.most_sides + 1, sizeof(*room));
	int err;

	*rows = (struct span_rows){ .list = calloc(r->spans->nr, sizeof(*rows->list)) };
	err = room && rows->list ? 0 : -ENOMEM;
	for (size_t i = 0; !err && i < r->spans->nr; i++)
		err = span_row_fill(&rows->list[rows->nr++], r, &r->spans->list[i], room);
	free(room);
	if (err)
		return err;
	qsort(rows->list, rows->nr, sizeof(*rows->list), span_row_compare);
	rows->shown = rows->nr < MOST_SPANS ? rows->nr : MOST_SPANS;
	return 0;
}

static void span_cell_put(FILE *f, double value, size_t width)
{
	char text[NUMBER_BYTES] = "-";

	if (!isnan(value))
		number_format(text, UNIT_NS, value);
	fprintf(f, "%*s", (int)width, text);
}

static size_t span_names_longest(const struct span_rows *rows, size_t least)
{
	for (size_t i = 0; i < rows->shown; i++) {
		size_t n = format_columns(rows->list[i].step->name);

		least = n > least ? n : least;
	}
	return least;
}

/* The cases are columns of @cell. */
static void spans_put_across(FILE *f, const struct bench_result *r, const struct span_rows *rows,
			     size_t width, size_t cell)
{
	const size_t nr = r->groups.nr;
	size_t name = label_width(span_names_longest(rows, strlen(TITLE)), width, nr * cell);

	case_label_begin(f, TITLE, name);
	for (size_t i = 0; i < nr; i++) {
		const char *label = nr > 1 ? r->groups.list[group_at(r, i)].name : "time";

		fprintf(f, "%*s", (int)(cell - format_columns(label)), "");
		case_label_put(f, label, cell);
	}
	fputc('\n', f);
	for (size_t row = 0; row < rows->shown; row++) {
		case_label_begin(f, rows->list[row].step->name, name);
		for (size_t i = 0; i < nr; i++)
			span_cell_put(f, rows->list[row].medians[group_at(r, i)], cell);
		fputc('\n', f);
	}
}

/* The cases that have the span are rows below it. */
static void spans_put_down(FILE *f, const struct bench_result *r, const struct span_rows *rows,
			   size_t width)
{
	size_t longest = span_names_longest(rows, label_longest(r) + 2);
	size_t name = label_width(longest, width, CELL_WIDTH);

	case_label_begin(f, TITLE, name);
	fprintf(f, "%*s\n", CELL_WIDTH, "time");
	for (size_t row = 0; row < rows->shown; row++) {
		fputs("  ", f);
		case_label_put(f, rows->list[row].step->name, name);
		fputc('\n', f);
		for (size_t i = 0; i < r->groups.nr; i++) {
			size_t g = group_at(r, i);

			if (isnan(rows->list[row].medians[g]))
				continue;
			fputs("  ", f);
			case_label_begin(f, r->groups.list[g].name, name - 2);
			span_cell_put(f, rows->list[row].medians[g], CELL_WIDTH);
			fputc('\n', f);
		}
	}
}

/* Names of cases are cut in no column: what is cut off may be what sets them apart. */
static void spans_put(FILE *f, const struct bench_result *r, const struct span_rows *rows,
		      size_t width)
{
	size_t cell = r->groups.nr > 1 ? label_longest(r) + 2 : CELL_WIDTH;

	if (cell < CELL_WIDTH)
		cell = CELL_WIDTH;
	fputc('\n', f);
	if (2 + LEAST_LABEL + r->groups.nr * cell <= width)
		spans_put_across(f, r, rows, width, cell);
	else
		spans_put_down(f, r, rows, width);
	if (rows->nr > rows->shown)
		fprintf(f, "  %zu with less time are not shown\n", rows->nr - rows->shown);
}

int bench_span_table(FILE *f, const struct bench_result *r, size_t width)
{
	struct span_rows rows;
	int err;

	if (!r->spans || !r->spans->nr)
		return 0;
	err = span_rows_make(&rows, r);
	if (!err)
		spans_put(f, r, &rows, width);
	span_rows_done(&rows);
	return err;
}
