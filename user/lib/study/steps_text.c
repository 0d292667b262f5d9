// SPDX-License-Identifier: BSD-2-Clause
#include "study/steps_text.h"

#include "study/cell.h"
#include "study/compare_text.h"
#include "text/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_NAME 16 /* columns */
#define MOST_NAME 40
#define RUN_NAME "= the run"

/* Which go first where the line is too narrow. */
static const enum comparison_column spare[] = { COL_FIRST_IQR, COL_OTHER_IQR, COL_P, COL_DIFFERENCE,
						COL_VERDICT };
#define NR_SPARE (sizeof(spare) / sizeof(*spare))

struct table {
	FILE *f;
	const struct steps *steps;
	const struct comparison *c; /* of the runs */
	size_t group, key;
	size_t names, counts;                /* columns; 0: no counts */
	size_t width[NR_COMPARISON_COLUMNS]; /* 0: not shown */
};

static bool step_is_shown(const struct table *t, const struct comparison *c)
{
	return spread_of(c, 0, t->key)->nr || spread_of(c, t->group, t->key)->nr;
}

static size_t steps_line_width(const struct table *t)
{
	size_t sum = 2 + t->names + 2 * (t->counts ? t->counts + 1 : 0);

	for (size_t col = COL_FIRST; col < NR_COMPARISON_COLUMNS; col++)
		sum += t->width[col] ? t->width[col] + 2 : 0;
	return sum;
}

static void step_measure(struct table *t, const struct comparison *c, const char *name)
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

/* As wide as the widest cell; then names are cut, columns go, and at last the counts. */
static void steps_fit_columns(struct table *t, size_t width)
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
	most = t->names > MOST_NAME ? MOST_NAME : t->names;
	t->names = most > LEAST_NAME ? LEAST_NAME : most;
	for (size_t i = 0; i < NR_SPARE && steps_line_width(t) > width; i++)
		t->width[spare[i]] = 0;
	if (steps_line_width(t) > width)
		t->counts = 0;
	over = steps_line_width(t);
	if (width > over)
		t->names = t->names + width - over > most ? most : t->names + width - over;
}

static void steps_put_counts(const struct table *t, const struct step *s, bool is_title)
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

/* @s NULL: of the runs; @c NULL: the titles. */
static void steps_put_row(const struct table *t, const char *name, const struct step *s,
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
		if (col == COL_VERDICT) /* the last */
			fprintf(t->f, "  %s", text);
		else
			fprintf(t->f, "  %*s", (int)t->width[col], text);
	}
	fputc('\n', t->f);
}

static void steps_put_table(struct table *t, size_t width)
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

/* The steps of which runs have lost something, in one line each. */
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
			steps_put_table(&(struct table){ .f = f,
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
