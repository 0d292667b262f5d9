// SPDX-License-Identifier: BSD-2-Clause
#include "study/bench_text.h"

#include "base/memory.h"
#include "study/compare.h"
#include "study/result.h"
#include "text/format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_WIDTH 11  /* with two blanks before it */
#define LEAST_LABEL 16 /* columns */

/* Writes two blanks and the first cell of a row, @width columns wide. */
static void case_label_begin(FILE *f, const char *label, size_t width)
{
	size_t n;

	fputs("  ", f);
	n = format_middle(f, label, width);
	fprintf(f, "%*s", (int)(width - n), "");
}

/*
 * Returns the width of the label cells if other cells take @cells columns: @longest, or less to
 * keep the line within @width.
 */
static size_t label_width(size_t longest, size_t width, size_t cells)
{
	const size_t used = 2 + cells;
	size_t most = width > used + LEAST_LABEL ? width - used : LEAST_LABEL;

	return longest < most ? longest : most;
}

static size_t label_longest(const struct bench_result *r)
{
	size_t longest = 4;

	for (size_t i = 0; i < r->groups.nr; i++) {
		size_t n = format_columns(r->groups.list[i].name);

		longest = n > longest ? n : longest;
	}
	return longest;
}

/* Returns the @nth group in the order of the plan. */
static size_t group_at(const struct bench_result *r, size_t nth)
{
	for (size_t of = 0; of < r->plan->nr; of++)
		for (size_t g = 0; g < r->groups.nr; g++)
			if (r->case_of[g] == of && !nth--)
				return g;
	return 0;
}

#define MOST_SPANS 8 /* only those with the most time are shown */
#define TITLE "spans (median)"

struct span_row {
	const struct step *step;
	double *medians; /* owned; [group]; NAN if no run of the group has the span */
	double most;     /* largest of @medians */
};

struct span_rows {
	struct span_row *list; /* owned; descending time */
	size_t nr, shown;
};

/* Returns the median over runs, each the sum of its spans with this name. @room is a buffer. */
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
	row->medians = memory_calloc(r->groups.nr, sizeof(*row->medians));
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
	double *room = memory_calloc(r->groups.most_sides + 1, sizeof(*room));
	int err;

	*rows = (struct span_rows){ .list = memory_calloc(r->spans->nr, sizeof(*rows->list)) };
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

/* Prints spans as rows and cases as columns, @cell wide. */
static void spans_put_across(FILE *f, const struct bench_result *r, const struct span_rows *rows,
			     size_t width, size_t cell)
{
	const size_t nr = r->groups.nr;
	size_t name = label_width(span_names_longest(rows, strlen(TITLE)), width, nr * cell);

	case_label_begin(f, TITLE, name);
	for (size_t i = 0; i < nr; i++) {
		const char *label = nr > 1 ? r->groups.list[group_at(r, i)].name : "time";

		fprintf(f, "%*s", (int)(cell - format_columns(label)), "");
		format_middle(f, label, cell);
	}
	fputc('\n', f);
	for (size_t row = 0; row < rows->shown; row++) {
		case_label_begin(f, rows->list[row].step->name, name);
		for (size_t i = 0; i < nr; i++)
			span_cell_put(f, rows->list[row].medians[group_at(r, i)], cell);
		fputc('\n', f);
	}
}

/* Prints each span with rows below it for the cases that have it. */
static void spans_put_down(FILE *f, const struct bench_result *r, const struct span_rows *rows,
			   size_t width)
{
	size_t longest = span_names_longest(rows, label_longest(r) + 2);
	size_t name = label_width(longest, width, CELL_WIDTH);

	case_label_begin(f, TITLE, name);
	fprintf(f, "%*s\n", CELL_WIDTH, "time");
	for (size_t row = 0; row < rows->shown; row++) {
		fputs("  ", f);
		format_middle(f, rows->list[row].step->name, name);
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

/* Uses columns for cases only if no label must be cut, because cut labels may look the same. */
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

/* Prints nothing if no run has a span. Returns 0 or -ENOMEM. */
static int bench_span_table(FILE *f, const struct bench_result *r, size_t width)
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

#define RUNS_WIDTH 6 /* column with the number of runs */
#define AGAINST_WIDTH                                                                              \
	56 /* "  x 1.747 (1.123 to 1.123), p 1.1e-05: more than noise" and one digit */

struct bench_column {
	const char *title;
	const char *key;
	size_t of; /* offset in struct measure */
};

#define OF(member) offsetof(struct measure, member)

static const struct bench_column time_columns[] = {
	{ "mean", "wall_seconds", OF(mean) },     { "sd", "wall_seconds", OF(sd) },
	{ "median", "wall_seconds", OF(median) }, { "min", "wall_seconds", OF(least) },
	{ "max", "wall_seconds", OF(most) },
};

/* Medians, because outliers do not affect them. */
static const struct bench_column use_columns[] = {
	{ "user", "user_seconds", OF(median) },   { "system", "system_seconds", OF(median) },
	{ "peak RSS", NULL, OF(median) },         { "read", "read_bytes", OF(median) },
	{ "written", "write_bytes", OF(median) },
};

/* Returns the key of the column; without one, that of the best known memory peak. */
static const char *column_key(const struct bench_result *r, size_t group,
			      const struct bench_column *c)
{
	size_t key;

	if (c->key)
		return c->key;
	return headline_key(&r->comparison, group, HEAD_MEMORY, &key) ? compare_key(key).name
								      : "rss_peak_bytes";
}

static enum metric_unit key_unit(const char *name)
{
	size_t key;

	return compare_key_find(name, strlen(name), &key) ? UNIT_COUNT : compare_key(key).unit;
}

static int bench_cell_put(FILE *f, const struct bench_result *r, size_t group,
			  const struct bench_column *c)
{
	const char *key = column_key(r, group, c);
	char text[NUMBER_BYTES] = "-";
	struct measure m;
	double value;
	int err = bench_measure(&r->groups.list[group], key, &m);

	if (err)
		return err;
	memcpy(&value, (const char *)&m + c->of, sizeof(value));
	if (!isnan(value))
		number_format(text, key_unit(key), value);
	fprintf(f, "%*s", CELL_WIDTH, text);
	return 0;
}

static int bench_table(FILE *f, const struct bench_result *r, const char *title,
		       const struct bench_column *columns, size_t nr, size_t width)
{
	const bool has_runs = columns == time_columns;
	size_t label =
		label_width(label_longest(r), width, nr * CELL_WIDTH + (has_runs ? RUNS_WIDTH : 0));
	int err = 0;

	if (label < strlen(title))
		label = strlen(title);
	case_label_begin(f, title, label);
	if (has_runs)
		fprintf(f, "%*s", RUNS_WIDTH, "runs");
	for (size_t i = 0; i < nr; i++)
		fprintf(f, "%*s", CELL_WIDTH, columns[i].title);
	fputc('\n', f);
	for (size_t row = 0; !err && row < r->groups.nr; row++) {
		size_t g = group_at(r, row);

		case_label_begin(f, r->groups.list[g].name, label);
		if (has_runs)
			fprintf(f, "%*zu", RUNS_WIDTH, r->groups.list[g].nr);
		for (size_t i = 0; !err && i < nr; i++)
			err = bench_cell_put(f, r, g, &columns[i]);
		fputc('\n', f);
	}
	return err;
}

static int group_ratio(const struct bench_result *r, size_t group, struct ratio *out)
{
	const struct group *first = &r->groups.list[0], *other = &r->groups.list[group];
	double *a = memory_calloc(first->nr + 1, sizeof(*a)),
	       *b = memory_calloc(other->nr + 1, sizeof(*b));
	int err = a && b ? 0 : -ENOMEM;
	size_t na, nb;

	*out = (struct ratio){ .estimate = NAN };
	if (!err) {
		na = bench_values(first, "wall_seconds", a);
		nb = bench_values(other, "wall_seconds", b);
		err = ratio_estimate(a, na, b, nb, out);
	}
	free(a);
	free(b);
	return err;
}

static int against_put(FILE *f, const struct bench_result *r, size_t group, size_t label)
{
	const struct against *x;
	struct ratio ratio;
	size_t key;
	int err = group_ratio(r, group, &ratio);

	if (err || compare_key_find("wall_seconds", strlen("wall_seconds"), &key))
		return err;
	x = against_of(&r->comparison, group, key);
	case_label_begin(f, r->groups.list[group].name, label);
	fprintf(f, "  x %.3f", ratio.estimate);
	if (ratio.has_interval)
		fprintf(f, " (%.3f to %.3f)", ratio.low, ratio.high);
	if (x->has_both && x->verdict != VERDICT_NONE && x->verdict != VERDICT_TOO_FEW &&
	    !x->is_single)
		fprintf(f, x->p_corrected < 0.001 ? ", p %.1e" : ", p %.3f", x->p_corrected);
	if (x->has_both && x->verdict != VERDICT_NONE)
		fprintf(f, ": %s", verdict_name(x->verdict));
	fputc('\n', f);
	return 0;
}

static int fastest_put(FILE *f, const struct bench_result *r, size_t width)
{
	char *text = NULL;
	size_t room;
	FILE *line = memory_open_memstream(&text, &room);

	if (!line)
		return -ENOMEM;
	fputs("  The fastest was ", line);
	format_middle(line, r->groups.list[0].name, 2 * width);
	fputs("; the time of the others against it (95 %):", line);
	if (fclose(line)) {
		free(text);
		return -ENOMEM;
	}
	fputc('\n', f);
	format_folded(f, text, width, 2);
	free(text);
	return 0;
}

static int againsts_put(FILE *f, const struct bench_result *r, size_t width)
{
	size_t label = label_width(label_longest(r), width, AGAINST_WIDTH);
	int err;

	if (r->groups.nr < 2)
		return 0;
	err = fastest_put(f, r, width);
	for (size_t row = 0; !err && row < r->groups.nr; row++)
		if (group_at(r, row))
			err = against_put(f, r, group_at(r, row), label);
	return err;
}

int bench_text(FILE *f, const struct bench_result *r, size_t width)
{
	const size_t nr_time = sizeof(time_columns) / sizeof(*time_columns);
	const size_t nr_use = sizeof(use_columns) / sizeof(*use_columns);
	int err = bench_table(f, r, "time", time_columns, nr_time, width);

	fputc('\n', f);
	if (!err)
		err = bench_table(f, r, "median of", use_columns, nr_use, width);
	if (!err)
		err = bench_span_table(f, r, width);
	return err ? err : againsts_put(f, r, width);
}
