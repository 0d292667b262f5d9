// SPDX-License-Identifier: BSD-2-Clause
#include "study/compare_text.h"

#include "base/memory.h"
#include "study/cell.h"
#include "text/format.h"
#include "study/compare.h"
#include "study/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_KEY 12 /* columns */

/* Columns to drop from a narrow table, the least important first. */
static const enum comparison_column spare[] = { COL_FIRST_IQR, COL_OTHER_IQR, COL_DIFFERENCE,
						COL_P,         COL_VERDICT,   COL_RELATIVE };
#define NR_SPARE (sizeof(spare) / sizeof(*spare))

struct table {
	const struct comparison *c;
	size_t group;
	struct comparison_rows rows;
	size_t width[NR_COMPARISON_COLUMNS]; /* 0: not shown */
};

static size_t line_width(const struct table *t)
{
	size_t sum = 0;

	for (size_t col = 0; col < NR_COMPARISON_COLUMNS; col++)
		sum += t->width[col] ? t->width[col] + 2 : 0;
	return sum;
}

/*
 * Makes columns as wide as their widest cell. Drops columns if the line is too wide, then cuts
 * keys.
 */
static void columns_fit(struct table *t, size_t width)
{
	char text[CELL_BYTES];
	size_t over;

	for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++) {
		comparison_title(text, t->c, t->group, col);
		t->width[col] = strlen(text);
		for (size_t i = 0; i < t->rows.nr; i++) {
			comparison_cell(text, t->c, t->group, col, t->rows.keys[i]);
			if (strlen(text) > t->width[col])
				t->width[col] = strlen(text);
		}
	}
	if (!comparison_has_several(t->c))
		t->width[COL_FIRST_IQR] = t->width[COL_OTHER_IQR] = t->width[COL_P] =
			t->width[COL_VERDICT] = 0;
	for (size_t i = 0; i < NR_SPARE && line_width(t) > width; i++)
		t->width[spare[i]] = 0;
	over = line_width(t) > width ? line_width(t) - width : 0;
	if (over && t->width[COL_KEY] > LEAST_KEY + over)
		t->width[COL_KEY] -= over;
	else if (over)
		t->width[COL_KEY] = LEAST_KEY;
}

static void cell_put(FILE *f, const struct table *t, enum comparison_column col, const char *text)
{
	if (!t->width[col])
		return;
	fputs("  ", f);
	if (col == COL_VERDICT) { /* the last column needs no padding */
		fputs(text, f);
	} else if (col == COL_KEY) {
		format_padded(f, text, t->width[col]);
	} else {
		fprintf(f, "%*s", (int)t->width[col], text);
	}
}

/* Prints the number of values without a row, by reason. */
static void left_out_put(FILE *f, const struct table *t, size_t width)
{
	static const char *const of[] = {
		[ROW_EQUAL] = "equal",
		[ROW_SMALL] = "within 1 %",
		[ROW_NOISE] = "may be noise",
		[ROW_CHANGED] = "of the same memory",
		[ROW_ONE_SIDED] = "of one side alone",
	};
	const char *between = "  ";
	char text[200];
	size_t n = 0;

	for (int state = ROW_CHANGED; state > ROW_ABSENT; state--) {
		if (!t->rows.left_out[state])
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%zu %s", between,
				      t->rows.left_out[state], of[state]);
		between = ", ";
	}
	if (!n)
		return;
	snprintf(text + n, sizeof(text) - n, ": --all shows them");
	format_folded(f, text, width, 2);
}

/*
 * Prints the rows of @choice (NULL: as few as possible), and the number of values without a row.
 * Drops the least important columns if the line would exceed @width.
 */
static void comparison_table(FILE *f, const struct comparison *c, size_t group,
			     const struct row_choice *choice, size_t width)
{
	struct table t = { .c = c, .group = group };
	char text[CELL_BYTES];

	comparison_choose_rows(&t.rows, c, group, choice);
	if (t.rows.nr) {
		columns_fit(&t, width);
		fputc('\n', f);
		for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++) {
			comparison_title(text, c, group, col);
			cell_put(f, &t, col, text);
		}
		fputc('\n', f);
	}
	for (size_t i = 0; i < t.rows.nr; i++) {
		for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++) {
			comparison_cell(text, c, group, col, t.rows.keys[i]);
			cell_put(f, &t, col, text);
		}
		fputc('\n', f);
	}
	left_out_put(f, &t, width);
}

#define LEAST_NAME 20

/* Prints ", 3 INCOMPLETE, 1 without a summary" for the runs of a group. */
static void doubts_print(FILE *f, const struct group *g)
{
	size_t incomplete = 0, folded = 0;

	for (size_t i = 0; i < g->nr; i++) {
		incomplete += g->sides[i]->is_run && !g->sides[i]->complete;
		folded += g->sides[i]->is_folded;
	}
	if (g->nr == 1) {
		fprintf(f, "%s%s", incomplete ? ", INCOMPLETE" : "",
			folded ? ", without a summary" : "");
		return;
	}
	if (incomplete)
		fprintf(f, ", %zu INCOMPLETE", incomplete);
	if (folded)
		fprintf(f, ", %zu without a summary", folded);
}

static void side_print(FILE *f, const struct side *s, size_t room)
{
	if (!s->title) {
		fprintf(f, "  %s", s->format);
		return;
	}
	fputs("  ", f);
	format_beginning(f, s->title, room > LEAST_NAME ? room : LEAST_NAME);
}

static size_t groups_name_width(const struct groups *all, size_t room)
{
	size_t width = 0, n;

	for (size_t i = 0; i < all->nr; i++) {
		n = format_columns(all->list[i].name);
		width = n > width ? n : width;
	}
	return width < room ? width : room;
}

static void groups_print(FILE *f, const struct comparison *c, size_t width)
{
	const struct groups *all = c->groups;
	size_t room = width > LEAST_NAME + 40 ? width - 40 : LEAST_NAME;
	size_t names = groups_name_width(all, all->by ? room / 2 : room);
	char label[24];

	for (size_t i = 0; i < all->nr; i++) {
		const struct group *g = &all->list[i];

		fprintf(f, "  %-2s ", group_label(label, i));
		if (all->by) {
			format_name(f, all->by, room / 2);
			fputc('=', f);
		}
		format_padded(f, g->name, names);
		if (all->by)
			fprintf(f, "  %zu run%s", g->nr, g->nr == 1 ? "" : "s");
		else
			side_print(f, g->sides[0], room);
		doubts_print(f, g);
		fputc('\n', f);
	}
}

static void texts_print(FILE *f, const json_t *texts, size_t width)
{
	const char *first = json_string_value(json_array_get(texts, 0));

	if (json_array_size(texts) > 1)
		fprintf(f, "%zu different ones", json_array_size(texts));
	else if (first)
		format_name(f, first, width);
	else
		fputc('-', f);
	fputc('\n', f);
}

static void diff_print(FILE *f, const json_t *diff, size_t width)
{
	size_t i, group, key_width = LEAST_KEY, room;
	json_t *row, *texts;
	char label[24];

	if (!json_array_size(diff))
		return;
	json_array_foreach(diff, i, row) {
		size_t n = format_columns(json_string_value(json_object_get(row, "key")));

		if (n > key_width)
			key_width = n;
	}
	if (key_width > width / 3)
		key_width = width / 3;
	room = width > key_width + LEAST_NAME + 7 ? width - key_width - 7 : LEAST_NAME;
	fputs("\n  what else changed\n", f);
	json_array_foreach(diff, i, row) {
		size_t n;

		fputs("  ", f);
		n = format_name(f, json_string_value(json_object_get(row, "key")), key_width);
		json_array_foreach(json_object_get(row, "values"), group, texts) {
			for (; n < key_width; n++)
				fputc(' ', f);
			fprintf(f, "  %-2s ", group_label(label, group));
			texts_print(f, texts, room);
			n = 0;
			if (group + 1 < json_array_size(json_object_get(row, "values")))
				fputs("  ", f);
		}
	}
}

static void verdicts_print(FILE *f, const struct comparison *c, size_t facts, size_t width)
{
	fputc('\n', f);
	for (size_t g = 1; g < c->groups->nr; g++) {
		char *verdict = verdict_text(c, g, facts), *line = NULL;

		if (verdict && memory_asprintf(&line, "  %s", verdict) >= 0) {
			format_folded(f, line, width, 2);
			free(line);
		}
		free(verdict);
	}
}

static void method_print(FILE *f, const struct comparison *c, size_t width)
{
	(void)width;
	if (!comparison_has_several(c))
		return;
	fprintf(f,
		"\n  Medians; IQR is the width of the middle half. p: Mann-Whitney U, two-sided, "
		"exact up to %d runs together, else by the normal distribution%s.\n",
		RANK_TEST_EXACT,
		c->groups->nr > 2 ? "; corrected for the number of groups (Holm)" : "");
	fputs("  Of values that do not differ, 1 in 20 seems to (p < 0.05).\n", f);
}

/* Wraps the text of @write to lines of @width columns. */
static void folded_print(FILE *f, const struct comparison *c, size_t width, size_t indent,
			 void (*write)(FILE *f, const struct comparison *c, size_t width))
{
	char *text = NULL;
	size_t length;
	FILE *made = memory_open_memstream(&text, &length);

	if (!made)
		return;
	write(made, c, width);
	if (!fclose(made))
		format_folded(f, text, width, indent);
	free(text);
}

static void comparison_text_begin(FILE *f, const struct comparison *c, const json_t *diff,
				  size_t width)
{
	folded_print(f, c, width, 5, groups_print);
	verdicts_print(f, c, json_array_size(diff), width);
}

static void comparison_text_end(FILE *f, const struct comparison *c, const json_t *diff,
				size_t width)
{
	diff_print(f, diff, width);
	folded_print(f, c, width, 2, method_print);
}

void comparison_text_of(FILE *f, const struct comparison *c, const json_t *diff,
			const struct row_choice *choice, size_t width)
{
	comparison_text_begin(f, c, diff, width);
	for (size_t g = 1; g < c->groups->nr; g++)
		comparison_table(f, c, g, choice, width);
	comparison_text_end(f, c, diff, width);
}

void comparison_text(FILE *f, const struct comparison *c, const json_t *diff, size_t width)
{
	comparison_text_of(f, c, diff, &(struct row_choice){ .is_all = true }, width);
}

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
	size_t width[NR_COMPARISON_COLUMNS]; /* 0: not shown */
};

static bool step_is_shown(const struct steps_table *t, const struct comparison *c)
{
	return spread_of(c, 0, t->key)->nr || spread_of(c, t->group, t->key)->nr;
}

static size_t steps_line_width(const struct steps_table *t)
{
	size_t sum = 2 + t->names + 2 * (t->counts ? t->counts + 1 : 0);

	for (size_t col = COL_FIRST; col < NR_COMPARISON_COLUMNS; col++)
		sum += t->width[col] ? t->width[col] + 2 : 0;
	return sum;
}

static void step_measure(struct steps_table *t, const struct comparison *c, const char *name)
{
	size_t n = format_columns(name);
	char text[CELL_BYTES];

	if (!step_is_shown(t, c))
		return;
	t->names = n > t->names ? n : t->names;
	for (enum comparison_column col = COL_FIRST; col < NR_COMPARISON_COLUMNS; col++) {
		comparison_cell(text, c, t->group, col, t->key);
		if (strlen(text) > t->width[col])
			t->width[col] = strlen(text);
	}
}

/*
 * Makes columns as wide as their widest cell. If the line is too wide, cuts names, drops columns,
 * then counts.
 */
static void steps_fit_columns(struct steps_table *t, size_t width)
{
	char text[CELL_BYTES];
	size_t over, most;

	t->names = strlen(compare_key(t->key).name);
	t->counts = strlen(step_kind_counted(t->steps->kind)) + 2;
	for (enum comparison_column col = COL_FIRST; col < NR_COMPARISON_COLUMNS; col++) {
		comparison_title(text, t->c, t->group, col);
		t->width[col] = strlen(text);
	}
	for (size_t i = 0; i < t->steps->nr; i++)
		step_measure(t, &t->steps->list[i].comparison, t->steps->list[i].name);
	step_measure(t, t->c, RUN_NAME);
	if (!comparison_has_several(t->c))
		t->width[COL_FIRST_IQR] = t->width[COL_OTHER_IQR] = t->width[COL_P] =
			t->width[COL_VERDICT] = 0;
	most = t->names > MOST_STEP_NAME ? MOST_STEP_NAME : t->names;
	t->names = most > LEAST_STEP_NAME ? LEAST_STEP_NAME : most;
	for (size_t i = 0;
	     i < sizeof(steps_spare) / sizeof(*steps_spare) && steps_line_width(t) > width; i++)
		t->width[steps_spare[i]] = 0;
	if (steps_line_width(t) > width)
		t->counts = 0;
	over = steps_line_width(t);
	if (width > over)
		t->names = t->names + width - over > most ? most : t->names + width - over;
}

static void steps_put_counts(const struct steps_table *t, const struct step *s, bool is_title)
{
	size_t groups[] = { 0, t->group };
	char label[24], text[40];

	for (size_t i = 0; t->counts && i < 2; i++) {
		text[0] = '\0';
		if (is_title)
			snprintf(text, sizeof(text), "%s %s", step_kind_counted(t->steps->kind),
				 group_label(label, groups[i]));
		else if (s)
			snprintf(text, sizeof(text), "%g", s->counts[groups[i]]);
		fprintf(t->f, " %*s", (int)t->counts, text);
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
		if (col == COL_VERDICT) /* the last column needs no padding */
			fprintf(t->f, "  %s", text);
		else
			fprintf(t->f, "  %*s", (int)t->width[col], text);
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
	steps_put_row(t, compare_key(t->key).name, NULL, NULL);
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
		if (!compare_key_find(shown_keys[i], strlen(shown_keys[i]), &key) && !is_shown[key])
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
