// SPDX-License-Identifier: BSD-2-Clause
/* Tables of phases, programs or spans, step by step. */
#include "study/compare_text.h"

#include "study/cell.h"
#include "text/format.h"

#include <stdio.h>
#include <string.h>

#define LEAST_STEP_NAME 16 /* columns */
#define MOST_STEP_NAME 40
#define RUN_NAME "= the run"

/* Columns to drop from a narrow table, the least important first. */
static const enum comparison_column steps_spare[] = { COL_FIRST_IQR, COL_OTHER_IQR, COL_P,
						      COL_DIFFERENCE, COL_VERDICT };

struct steps_table {
	FILE *f;
	const struct steps *steps;
	const struct comparison *c; /* of the runs */
	size_t group, key;
	size_t names, counts;                /* widths; counts 0: not shown */
	bool is_narrow;                      /* titles of counts lack the names of the sides */
	size_t width[NR_COMPARISON_COLUMNS]; /* 0: not shown */
};

static bool step_is_shown(const struct steps_table *t, const struct comparison *c)
{
	return spread_of(c, 0, t->key)->nr || spread_of(c, t->group, t->key)->nr;
}

static size_t steps_line_width(const struct steps_table *t)
{
	size_t sum = 2 + t->names + 2 * (t->counts ? t->counts + 2 : 0);

	for (size_t col = COL_FIRST; col < NR_COMPARISON_COLUMNS; col++)
		sum += t->width[col] ? t->width[col] + 2 : 0;
	return sum;
}

static void step_measure(struct steps_table *t, const struct comparison *c, const char *name,
			 size_t cells[NR_COMPARISON_COLUMNS])
{
	size_t n = format_columns(name);
	char text[CELL_BYTES];

	if (!step_is_shown(t, c))
		return;
	t->names = n > t->names ? n : t->names;
	for (enum comparison_column col = COL_FIRST; col < NR_COMPARISON_COLUMNS; col++) {
		comparison_cell(text, c, t->group, col, t->key);
		n = strlen(text);
		cells[col] = n > cells[col] ? n : cells[col];
		t->width[col] = n > t->width[col] ? n : t->width[col];
	}
}

#define COUNT_TITLE_BYTES (TITLE_BYTES + 16)

static void steps_count_title(char out[COUNT_TITLE_BYTES], const struct steps_table *t,
			      size_t group)
{
	snprintf(out, COUNT_TITLE_BYTES, "%s%s%s",
		 t->is_narrow ? "" : t->c->groups->list[group].title, t->is_narrow ? "" : " ",
		 step_kind_counted(t->steps->kind));
}

/* Both columns of counts are as wide as the wider title. */
static size_t steps_count_width(const struct steps_table *t)
{
	char first[COUNT_TITLE_BYTES], other[COUNT_TITLE_BYTES];
	size_t a, b;

	steps_count_title(first, t, 0);
	steps_count_title(other, t, t->group);
	a = format_columns(first);
	b = format_columns(other);
	return a > b ? a : b;
}

/*
 * Makes columns as wide as their widest cell. If the line is too wide, cuts names, drops columns,
 * then counts.
 */
static void steps_fit_columns(struct steps_table *t, size_t width)
{
	size_t over, most, cells[NR_COMPARISON_COLUMNS] = { 0 };
	char text[CELL_BYTES];

	t->names = strlen(run_key(t->key).name);
	t->counts = steps_count_width(t);
	for (enum comparison_column col = COL_FIRST; col < NR_COMPARISON_COLUMNS; col++) {
		comparison_title(text, t->c, t->group, col);
		t->width[col] = format_columns(text);
	}
	for (size_t i = 0; i < t->steps->nr; i++)
		step_measure(t, &t->steps->list[i].comparison, t->steps->list[i].name, cells);
	step_measure(t, t->c, RUN_NAME, cells);
	for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++)
		if (!comparison_has_column(t->c, t->group, col))
			t->width[col] = 0;
	most = t->names > MOST_STEP_NAME ? MOST_STEP_NAME : t->names;
	t->names = most > LEAST_STEP_NAME ? LEAST_STEP_NAME : most;
	t->is_narrow = steps_line_width(t) > width;
	if (t->is_narrow) {
		t->counts = steps_count_width(t);
		comparison_titles_cut(t->width, cells, SHORT_TITLE);
	}
	for (size_t i = 0;
	     i < sizeof(steps_spare) / sizeof(*steps_spare) && steps_line_width(t) > width; i++)
		t->width[steps_spare[i]] = 0;
	if (steps_line_width(t) > width)
		t->counts = 0;
	if (steps_line_width(t) > width)
		comparison_titles_cut(t->width, cells, 0);
	over = steps_line_width(t);
	if (width > over)
		t->names = t->names + width - over > most ? most : t->names + width - over;
}

static void steps_put_counts(const struct steps_table *t, const struct step *s, bool is_title)
{
	size_t groups[] = { 0, t->group };
	char text[COUNT_TITLE_BYTES];

	for (size_t i = 0; t->counts && i < 2; i++) {
		text[0] = '\0';
		if (is_title)
			steps_count_title(text, t, groups[i]);
		else if (s)
			snprintf(text, sizeof(text), "%g", s->counts[groups[i]]);
		fputs("  ", t->f);
		format_padded_left(t->f, text, t->counts);
	}
}

/* @s is NULL for the row of the runs, @c for the row of titles. */
static void steps_put_row(const struct steps_table *t, const char *name, const struct step *s,
			  const struct comparison *c)
{
	char text[CELL_BYTES];

	fputs("  ", t->f);
	format_padded(t->f, name, t->names);
	steps_put_counts(t, s, !c);
	for (enum comparison_column col = COL_FIRST; col < NR_COMPARISON_COLUMNS; col++) {
		if (!t->width[col])
			continue;
		if (c)
			comparison_cell(text, c, t->group, col, t->key);
		else
			comparison_title(text, t->c, t->group, col);
		if (col == COL_VERDICT) { /* the last column needs no padding */
			fprintf(t->f, "  %s", text);
			continue;
		}
		fputs("  ", t->f);
		format_padded_left(t->f, text, t->width[col]);
	}
	fputc('\n', t->f);
}

static void steps_put_table(struct steps_table *t, size_t width)
{
	bool is_shown = false;

	for (size_t i = 0; !is_shown && i < t->steps->nr; i++)
		is_shown = step_is_shown(t, &t->steps->list[i].comparison);
	if (!is_shown)
		return;
	steps_fit_columns(t, width);
	fputc('\n', t->f);
	steps_put_row(t, run_key(t->key).name, NULL, NULL);
	for (size_t i = 0; i < t->steps->nr; i++) {
		const struct step *s = &t->steps->list[i];

		if (step_is_shown(t, &s->comparison))
			steps_put_row(t, s->name[0] ? s->name : "(no name)", s, &s->comparison);
	}
	steps_put_row(t, RUN_NAME, NULL, t->c);
}

/* Prints each step that is incomplete, and in how many runs. */
static void steps_put_doubts(FILE *f, const struct steps *steps, size_t width)
{
	const char *before = "\n";

	for (size_t i = 0; i < steps->nr; i++) {
		const struct step *s = &steps->list[i];
		size_t incomplete = 0;

		for (size_t k = 0; k < steps->nr_sides; k++)
			incomplete += !s->sides[k].complete;
		if (!incomplete)
			continue;
		fprintf(f, "%s  INCOMPLETE in %zu run%s: ", before, incomplete,
			incomplete == 1 ? "" : "s");
		format_name(f, s->name, width > 50 ? width - 30 : 20);
		fputc('\n', f);
		before = "";
	}
}

static const char *const shown_keys[] = { "cpu_seconds", "wall_seconds", "rss_peak_bytes" };
#define NR_SHOWN (sizeof(shown_keys) / sizeof(*shown_keys))

size_t steps_choose_keys(size_t *order, const size_t *keys, size_t nr)
{
	bool is_shown[NR_KEYS] = { false };
	size_t n = 0, key;

	for (size_t i = 0; i < NR_SHOWN; i++)
		if (!run_key_find(shown_keys[i], strlen(shown_keys[i]), &key) && !is_shown[key])
			is_shown[order[n++] = key] = true;
	for (size_t i = 0; i < nr; i++)
		if (!is_shown[keys[i]])
			is_shown[order[n++] = keys[i]] = true;
	return n;
}

void steps_text(FILE *f, const struct steps *steps, const struct comparison *c, const json_t *diff,
		const size_t *keys, size_t nr, size_t width)
{
	size_t order[NR_KEYS], n = steps_choose_keys(order, keys, nr);

	comparison_text_begin(f, c, diff, width);
	for (size_t g = 1; g < c->groups->nr; g++)
		for (size_t i = 0; i < n; i++)
			steps_put_table(&(struct steps_table){ .f = f,
							       .steps = steps,
							       .c = c,
							       .group = g,
							       .key = order[i] },
					width);
	if (!steps->nr)
		fprintf(f, "\n  the runs have no %s\n", step_kind_names(steps->kind));
	steps_put_doubts(f, steps, width);
	comparison_text_end(f, c, diff, width);
}
