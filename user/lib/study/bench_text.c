// SPDX-License-Identifier: BSD-2-Clause
/* Prints the results of a benchmark. */

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
#define RUNS_EACH 12   /* "2000 runs each" is wider, and pushes the titles */
#define WIDE 100       /* columns, from which on p is shown */
#define AGAINST_BYTES 96

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
	if (!row->medians || run_key_find("wall_seconds", strlen("wall_seconds"), &key))
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
		fprintf(f, "  %zu spans with less time are not shown\n", rows->nr - rows->shown);
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

enum bench_column {
	COL_RUNS,
	COL_MEAN,
	COL_SD,
	COL_MIN,
	COL_MEDIAN,
	COL_MAX,
	COL_USER,
	COL_SYSTEM,
	COL_MEMORY,
	COL_READ,
	COL_WRITTEN,
	NR_BENCH_COLUMNS
};

#define OF(member) offsetof(struct measure, member)

/* Of what is used, medians, because outliers do not affect them. */
static const struct {
	const char *title;
	const char *key; /* NULL: the best known memory peak */
	size_t of;       /* offset in struct measure */
} columns[NR_BENCH_COLUMNS] = {
	[COL_RUNS] = { "runs", NULL, 0 },
	[COL_MEAN] = { "mean", "wall_seconds", OF(mean) },
	[COL_SD] = { "+-", "wall_seconds", OF(sd) },
	[COL_MIN] = { "min", "wall_seconds", OF(least) },
	[COL_MEDIAN] = { "median", "wall_seconds", OF(median) },
	[COL_MAX] = { "max", "wall_seconds", OF(most) },
	[COL_USER] = { "user", "user_seconds", OF(median) },
	[COL_SYSTEM] = { "system", "system_seconds", OF(median) },
	[COL_MEMORY] = { "memory", NULL, OF(median) },
	[COL_READ] = { "read", "read_bytes", OF(median) },
	[COL_WRITTEN] = { "written", "write_bytes", OF(median) },
};

/* As many as fit, the most important first. */
static const enum bench_column wanted[NR_BENCH_COLUMNS] = { COL_MEAN,   COL_SD,     COL_MEMORY,
							    COL_USER,   COL_SYSTEM, COL_MIN,
							    COL_MAX,    COL_MEDIAN, COL_READ,
							    COL_WRITTEN };

struct bench_table {
	const struct bench_result *r;
	size_t width[NR_BENCH_COLUMNS]; /* with the blanks before it; 0: not shown */
	size_t label;
	size_t runs;                    /* of each case; 0: they differ, and are a column */
	char (*against)[AGAINST_BYTES]; /* owned; [group] */
};

/* Returns the key of the column; without one, that of the best known memory peak. */
static const char *column_key(const struct bench_result *r, size_t group, enum bench_column c)
{
	size_t key;

	if (columns[c].key)
		return columns[c].key;
	return headline_key(&r->comparison, group, HEAD_MEMORY, &key) ? run_key(key).name
								      : "memory_needed_bytes";
}

static enum metric_unit key_unit(const char *name)
{
	size_t key;

	return run_key_find(name, strlen(name), &key) ? UNIT_COUNT : run_key(key).unit;
}

static int bench_cell(char text[NUMBER_BYTES], const struct bench_result *r, size_t group,
		      enum bench_column c)
{
	const char *key = column_key(r, group, c);
	struct measure m;
	double value;
	int err;

	snprintf(text, NUMBER_BYTES, "-");
	if (c == COL_RUNS) {
		snprintf(text, NUMBER_BYTES, "%zu", r->groups.list[group].nr);
		return 0;
	}
	err = bench_measure(&r->groups.list[group], key, &m);
	if (err)
		return err;
	memcpy(&value, (const char *)&m + columns[c].of, sizeof(value));
	if (!isnan(value))
		number_format(text, key_unit(key), value);
	return 0;
}

static int ratio_format(char out[AGAINST_BYTES], const struct bench_result *r, size_t group,
			bool has_p)
{
	const struct against *x;
	struct ratio ratio;
	size_t key, n;
	int err = group ? bench_ratio(r, group, &ratio) : 0;

	snprintf(out, AGAINST_BYTES, "fastest");
	if (err || !group || run_key_find("wall_seconds", strlen("wall_seconds"), &key))
		return err;
	x = against_of(&r->comparison, group, key);
	n = (size_t)snprintf(out, AGAINST_BYTES, "x %.3f", ratio.estimate);
	if (ratio.has_interval)
		n += (size_t)snprintf(out + n, AGAINST_BYTES - n, " (%.3f to %.3f)", ratio.low,
				      ratio.high);
	if (!x->has_both || x->verdict == VERDICT_NONE)
		return 0;
	if (has_p && x->verdict != VERDICT_TOO_FEW && !x->is_single)
		n += (size_t)snprintf(out + n, AGAINST_BYTES - n,
				      x->p_corrected < 0.001 ? ", p %.1e" : ", p %.3f",
				      x->p_corrected);
	snprintf(out + n, AGAINST_BYTES - n, ": %s", verdict_name(x->verdict));
	return 0;
}

static int againsts_make(struct bench_table *t, bool has_p, size_t *longest)
{
	int err = 0;

	*longest = 0;
	for (size_t g = 0; !err && t->r->groups.nr > 1 && g < t->r->groups.nr; g++) {
		err = ratio_format(t->against[g], t->r, g, has_p);
		if (strlen(t->against[g]) > *longest)
			*longest = strlen(t->against[g]);
	}
	*longest += *longest ? 2 : 0;
	return err;
}

static int bench_column_measure(struct bench_table *t, enum bench_column c, size_t *width)
{
	char text[NUMBER_BYTES];
	int err = 0;

	*width = strlen(columns[c].title);
	for (size_t g = 0; !err && g < t->r->groups.nr; g++) {
		err = bench_cell(text, t->r, g, c);
		if (strlen(text) > *width)
			*width = strlen(text);
	}
	*width += 2;
	return err;
}

/* Sets the columns that fit beside the labels and what stands at the end. */
static int bench_columns_choose(struct bench_table *t, size_t width, size_t end)
{
	size_t used = 2 + LEAST_LABEL + end, longest = label_longest(t->r), room;
	int err = 0;

	t->runs = t->r->groups.list[0].nr;
	for (size_t g = 1; g < t->r->groups.nr; g++)
		if (t->r->groups.list[g].nr != t->runs)
			t->runs = 0;
	if (!t->runs) {
		err = bench_column_measure(t, COL_RUNS, &t->width[COL_RUNS]);
		used += t->width[COL_RUNS];
	}
	for (size_t i = 0; !err && i < NR_BENCH_COLUMNS && wanted[i] != COL_RUNS; i++) {
		err = bench_column_measure(t, wanted[i], &room);
		if (i && used + room > width)
			break;
		t->width[wanted[i]] = room;
		used += room;
	}
	t->label = LEAST_LABEL + (width > used ? width - used : 0);
	t->label = longest < t->label ? longest : t->label;
	if (t->label < RUNS_EACH)
		t->label = RUNS_EACH;
	return err;
}

static int bench_table_put(FILE *f, const struct bench_table *t)
{
	const struct bench_result *r = t->r;
	char text[NUMBER_BYTES] = "";
	int err = 0;

	if (t->runs)
		snprintf(text, sizeof(text), "%zu run%s%s", t->runs, t->runs == 1 ? "" : "s",
			 r->groups.nr > 1 ? " each" : "");
	case_label_begin(f, text, t->label);
	for (size_t c = 0; c < NR_BENCH_COLUMNS; c++)
		if (t->width[c])
			fprintf(f, "%*s", (int)t->width[c], columns[c].title);
	fputs(r->groups.nr > 1 ? "  time / fastest (95 % interval)\n" : "\n", f);
	for (size_t row = 0; !err && row < r->groups.nr; row++) {
		size_t g = group_at(r, row);

		case_label_begin(f, r->groups.list[g].name, t->label);
		for (enum bench_column c = 0; !err && c < NR_BENCH_COLUMNS; c++) {
			if (!t->width[c])
				continue;
			err = bench_cell(text, r, g, c);
			fprintf(f, "%*s", (int)t->width[c], text);
		}
		if (r->groups.nr > 1)
			fprintf(f, "  %s", t->against[g]);
		fputc('\n', f);
	}
	return err;
}

int bench_text(FILE *f, const struct bench_result *r, size_t width)
{
	struct bench_table t = { .r = r,
				 .against = memory_calloc(r->groups.nr, sizeof(*t.against)) };
	size_t end = 0;
	int err = t.against ? againsts_make(&t, width >= WIDE, &end) : -ENOMEM;

	if (!err)
		err = bench_columns_choose(&t, width, end);
	if (!err)
		err = bench_table_put(f, &t);
	free(t.against);
	return err ? err : bench_span_table(f, r, width);
}
