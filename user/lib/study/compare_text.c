// SPDX-License-Identifier: BSD-2-Clause
#include "study/compare_text.h"

#include "base/memory.h"
#include "study/cell.h"
#include "text/format.h"
#include "study/compare.h"
#include "study/diff.h"
#include "study/unusual.h"

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
 * Makes columns as wide as their widest cell. If the line is too wide, cuts the names of the sides,
 * drops columns, then cuts keys.
 */
static void columns_fit(struct table *t, size_t width)
{
	size_t over, cells[NR_COMPARISON_COLUMNS] = { 0 };
	char text[CELL_BYTES];

	for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++) {
		comparison_title(text, t->c, t->group, col);
		t->width[col] = format_columns(text);
		for (size_t i = 0; i < t->rows.nr; i++) {
			comparison_cell(text, t->c, t->group, col, t->rows.keys[i]);
			if (strlen(text) > cells[col])
				cells[col] = strlen(text);
		}
		if (cells[col] > t->width[col])
			t->width[col] = cells[col];
	}
	for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++)
		if (!comparison_has_column(t->c, t->group, col))
			t->width[col] = 0;
	if (line_width(t) > width)
		comparison_titles_cut(t->width, cells, SHORT_TITLE);
	for (size_t i = 0; i < NR_SPARE && line_width(t) > width; i++)
		t->width[spare[i]] = 0;
	if (line_width(t) > width)
		comparison_titles_cut(t->width, cells, 0);
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
		format_padded_left(f, text, t->width[col]);
	}
}

/* Prints the number of values without a row, by reason. */
static void left_out_put(FILE *f, const struct table *t, size_t width)
{
	static const char *const of[] = {
		[ROW_EQUAL] = "equal",
		[ROW_SMALL] = "within 1 %",
		[ROW_NOISE] = "may be noise",
		[ROW_CHANGED] = "other peaks of memory",
		[ROW_ONE_SIDED] = "on one side only",
	};
	const char *between = "  ";
	char text[200];
	size_t n = 0;

	if (t->rows.hidden) {
		n += (size_t)snprintf(text, sizeof(text), "  %zu more changed", t->rows.hidden);
		between = ", ";
	}
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
	char text[TITLE_BYTES];
	size_t width = 0, n;

	for (size_t i = 0; i < all->nr; i++) {
		n = format_columns(all->by ? all->list[i].name
					   : side_word(all->list[i].sides[0], text, sizeof(text)));
		width = n > width ? n : width;
	}
	return width < room ? width : room;
}

static size_t titles_width(const struct groups *all)
{
	size_t width = 0, n;

	for (size_t i = 0; i < all->nr; i++) {
		n = format_columns(all->list[i].title);
		width = n > width ? n : width;
	}
	return width;
}

/* Prints what the user called the group, unless the title says so. */
static void group_print_name(FILE *f, const struct groups *all, const struct group *g, size_t names,
			     size_t room)
{
	char text[TITLE_BYTES];

	if (!names)
		return;
	if (all->by) {
		fputs("  ", f);
		format_name(f, all->by, room / 2);
		fputc('=', f);
		format_padded(f, g->name, names);
	} else {
		fputs("  ", f);
		format_padded(f, side_word(g->sides[0], text, sizeof(text)), names);
	}
}

static bool words_are_titles(const struct groups *all)
{
	char text[TITLE_BYTES];

	for (size_t i = 0; i < all->nr; i++) {
		const char *word = text;

		if (all->by)
			snprintf(text, sizeof(text), "%s=%s", all->by, all->list[i].name);
		else
			word = side_word(all->list[i].sides[0], text, sizeof(text));
		if (strcmp(all->list[i].title, word) != 0)
			return false;
	}
	return true;
}

static void groups_print(FILE *f, const struct comparison *c, size_t width)
{
	const struct groups *all = c->groups;
	size_t room = width > LEAST_NAME + 40 ? width - 40 : LEAST_NAME;
	size_t titles = titles_width(all), names = 0;

	if (!all->is_history && !words_are_titles(all))
		names = groups_name_width(all, all->by ? room / 2 : room);
	for (size_t i = 0; i < all->nr; i++) {
		const struct group *g = &all->list[i];

		fputs("  ", f);
		format_padded(f, g->title, titles);
		group_print_name(f, all, g, names, room);
		if (all->by || g->nr > 1)
			fprintf(f, "  %zu run%s", g->nr, g->nr == 1 ? "" : "s");
		else
			side_print(f, g->sides[0], room);
		doubts_print(f, g);
		fputc('\n', f);
	}
}

static void texts_print(FILE *f, const char *key, const json_t *texts, size_t width)
{
	char room[MOMENT_BYTES];
	const char *first = json_string_value(json_array_get(texts, 0));

	if (json_array_size(texts) > 1)
		fprintf(f, "%zu different ones", json_array_size(texts));
	else if (first)
		format_name(f, fact_format(room, sizeof(room), key, first), width);
	else
		fputc('-', f);
	fputc('\n', f);
}

static void diff_print(FILE *f, const struct groups *all, const json_t *diff, size_t width)
{
	size_t i, group, key_width = LEAST_KEY, titles = titles_width(all), room;
	json_t *row, *texts;

	if (!diff_has_news(all, diff))
		return;
	json_array_foreach(diff, i, row) {
		size_t n = format_columns(json_string_value(json_object_get(row, "key")));

		if (n > key_width)
			key_width = n;
	}
	if (key_width > width / 3)
		key_width = width / 3;
	if (titles > width / 3)
		titles = width / 3;
	room = width > key_width + titles + LEAST_NAME + 6 ? width - key_width - titles - 6
							   : LEAST_NAME;
	fputs("\n  what else changed\n", f);
	json_array_foreach(diff, i, row) {
		const char *key = json_string_value(json_object_get(row, "key"));

		if (!diff_row_is_news(all, row))
			continue;
		json_array_foreach(json_object_get(row, "values"), group, texts) {
			fputs("  ", f);
			format_padded(f, group ? "" : key, key_width);
			fputs("  ", f);
			format_padded(f, all->list[group].title, titles);
			fputs("  ", f);
			texts_print(f, key, texts, room);
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
	if (c->groups->is_history) {
		fprintf(f,
			"\n  Medians; IQR is the width of the middle half. More than noise: %.1f "
			"robust standard deviations (z) and 1 %% from the median, of %d runs at "
			"least.\n",
			USUAL_DISTANCE, LEAST_RUNS);
		return;
	}
	fprintf(f,
		"\n  Medians; IQR is the width of the middle half. p: Mann-Whitney U, two-sided, "
		"exact up to %d runs together, else by the normal distribution%s.\n",
		RANK_TEST_EXACT,
		c->groups->nr > 2 ? "; corrected for the number of groups (Holm)" : "");
	fputs("  About 1 in 20 values that do not really differ will seem to differ (p < 0.05).\n",
	      f);
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

void comparison_text_begin(FILE *f, const struct comparison *c, const json_t *diff, size_t width)
{
	folded_print(f, c, width, 5, groups_print);
	verdicts_print(f, c, json_array_size(diff), width);
}

void comparison_text_end(FILE *f, const struct comparison *c, const json_t *diff, size_t width)
{
	diff_print(f, c->groups, diff, width);
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
