// SPDX-License-Identifier: BSD-2-Clause
/* Writes a comparison as Markdown, for pull requests: differences first, the rest folded. */

#include "study/cell.h"
#include "study/compare.h"
#include "study/compare_text.h"
#include "study/diff.h"
#include "text/format.h"
#include "text/markdown.h"

#include <stdlib.h>

#define NAME_COLUMNS 100

static void groups_markdown(FILE *f, const struct groups *all)
{
	static const char *const titles[] = { "side", "what", "runs" };

	markdown_head(f, titles, 3);
	for (size_t i = 0; i < all->nr; i++) {
		const struct group *g = &all->list[i];
		size_t incomplete = 0;

		for (size_t k = 0; k < g->nr; k++)
			incomplete += g->sides[k]->is_run && !g->sides[k]->complete;
		fputs("| ", f);
		markdown_text(f, g->title);
		fputs(" | ", f);
		if (all->by) {
			markdown_text(f, all->by);
			fputs(" = ", f);
		}
		markdown_code(f, g->name, NAME_COLUMNS, true);
		if (g->nr == 1 && g->sides[0]->title) {
			fputs(": ", f);
			markdown_code(f, g->sides[0]->title, NAME_COLUMNS, true);
		}
		fprintf(f, " | %zu", g->nr);
		if (incomplete)
			fprintf(f, ", %zu INCOMPLETE", incomplete);
		fputs(" |\n", f);
	}
}

static void columns_markdown(FILE *f, const struct comparison *c, size_t group, const char *first)
{
	const char *titles[NR_COMPARISON_COLUMNS];
	char text[NR_COMPARISON_COLUMNS][CELL_BYTES];
	size_t n = 0;

	titles[n++] = first;
	for (enum comparison_column col = COL_FIRST; col < NR_COMPARISON_COLUMNS; col++) {
		if (!comparison_has_column(c, group, col))
			continue;
		comparison_title(text[n], c, group, col);
		titles[n] = text[n];
		n++;
	}
	markdown_head(f, titles, n);
}

/*
 * Writes the cells of @key after the first. @whole is the comparison of the runs, which determines
 * the columns.
 */
static void cells_markdown(FILE *f, const struct comparison *whole, const struct comparison *c,
			   size_t group, size_t key)
{
	char text[CELL_BYTES];

	for (enum comparison_column col = COL_FIRST; col < NR_COMPARISON_COLUMNS; col++) {
		if (!comparison_has_column(whole, group, col))
			continue;
		comparison_cell(text, c, group, col, key);
		fputs(" | ", f);
		markdown_text(f, text);
	}
	fputs(" |\n", f);
}

static void rows_markdown(FILE *f, const struct comparison *c, size_t group, const size_t *keys,
			  size_t nr)
{
	columns_markdown(f, c, group, "value");
	for (size_t i = 0; i < nr; i++) {
		fputs("| ", f);
		markdown_code(f, run_key(keys[i]).name, NAME_COLUMNS, true);
		cells_markdown(f, c, c, group, keys[i]);
	}
}

static bool row_is_zero(const struct comparison *c, size_t group, size_t key)
{
	return spread_of(c, 0, key)->most == 0 && spread_of(c, group, key)->most == 0;
}

/* Writes the rows that a terminal shows, and the rest folded, except where all values are 0. */
static void values_markdown(FILE *f, const struct comparison *c, size_t group)
{
	static const struct row_choice everything = { .is_all = true };
	struct comparison_rows first, all;
	bool is_shown[NR_KEYS] = { false };
	size_t rest[NR_KEYS], nr = 0;

	comparison_choose_rows(&first, c, group, NULL);
	comparison_choose_rows(&all, c, group, &everything);
	for (size_t i = 0; i < first.nr; i++)
		is_shown[first.keys[i]] = true;
	for (size_t i = 0; i < all.nr; i++)
		if (!is_shown[all.keys[i]] && !row_is_zero(c, group, all.keys[i]))
			rest[nr++] = all.keys[i];
	if (first.nr)
		rows_markdown(f, c, group, first.keys, first.nr);
	if (!nr)
		return;
	fprintf(f, "\n<details><summary>%zu more values</summary>\n", nr);
	rows_markdown(f, c, group, rest, nr);
	fputs("\n</details>\n", f);
}

static bool step_has(const struct comparison *c, size_t group, size_t key)
{
	return spread_of(c, 0, key)->nr || spread_of(c, group, key)->nr;
}

static void steps_markdown(FILE *f, const struct comparison *c, const struct steps *steps,
			   size_t group, size_t key)
{
	columns_markdown(f, c, group, run_key(key).name);
	for (size_t i = 0; i < steps->nr; i++) {
		const struct step *s = &steps->list[i];

		if (!step_has(&s->comparison, group, key))
			continue;
		fputs("| ", f);
		markdown_code(f, s->name[0] ? s->name : "(no name)", NAME_COLUMNS, true);
		cells_markdown(f, c, &s->comparison, group, key);
	}
	if (!step_has(c, group, key))
		return;
	fputs("| = the run", f);
	cells_markdown(f, c, c, group, key);
}

static void texts_markdown(FILE *f, const char *key, const json_t *texts)
{
	char room[MOMENT_BYTES];
	const char *first = json_string_value(json_array_get(texts, 0));

	fputs(" | ", f);
	if (json_array_size(texts) > 1)
		fprintf(f, "%zu different ones", json_array_size(texts));
	else if (first)
		markdown_code(f, fact_format(room, sizeof(room), key, first), NAME_COLUMNS, true);
	else
		fputc('-', f);
}

static void diff_markdown(FILE *f, const json_t *diff, const struct groups *all)
{
	json_t *row, *texts;
	size_t i, group;

	if (!diff_has_news(all, diff))
		return;
	fputs("\n| what changed |", f);
	for (i = 0; i < all->nr; i++) {
		fputc(' ', f);
		markdown_text(f, all->list[i].title);
		fputs(" |", f);
	}
	fputs("\n|:---|", f);
	for (i = 0; i < all->nr; i++)
		fputs(":---|", f);
	fputc('\n', f);
	json_array_foreach(diff, i, row) {
		if (!diff_row_is_news(all, row))
			continue;
		fputs("| ", f);
		markdown_text(f, json_string_value(json_object_get(row, "key")));
		json_array_foreach(json_object_get(row, "values"), group, texts)
			texts_markdown(f, json_string_value(json_object_get(row, "key")), texts);
		fputs(" |\n", f);
	}
}

static void verdict_markdown(FILE *f, const struct comparison *c, size_t group, size_t facts)
{
	char *text = verdict_text(c, group, facts);

	fputs("\n**", f);
	if (text)
		markdown_text(f, text);
	fputs("**\n", f);
	free(text);
}

void comparison_markdown(FILE *f, const struct comparison *c, const struct steps *steps,
			 const size_t *keys, size_t nr, const json_t *diff)
{
	size_t order[NR_KEYS], shown = steps ? steps_choose_keys(order, keys, nr) : 0;

	groups_markdown(f, c->groups);
	for (size_t g = 1; g < c->groups->nr; g++) {
		verdict_markdown(f, c, g, json_array_size(diff));
		for (size_t i = 0; i < shown; i++)
			steps_markdown(f, c, steps, g, order[i]);
		if (steps)
			continue;
		values_markdown(f, c, g);
	}
	diff_markdown(f, diff, c->groups);
}
