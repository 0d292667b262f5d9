// SPDX-License-Identifier: BSD-2-Clause
/* The list of runs as a table. */
#include "text/runs_text.h"

#include "text/format.h"
#include "text/terminal.h"

#include <string.h>

#define MIN_NAME 8
#define MAX_NAME 24
#define MIN_COMMAND 6

static const enum run_column usual[] = {
	RUN_ID,     RUN_START, RUN_STATE, RUN_EXIT, RUN_WALL,    RUN_CPU,
	RUN_NEEDED, RUN_NAME,  RUN_TAGS,  RUN_NOTE, RUN_COMMAND,
};

/* The order in which columns are left out of a line that is too narrow. */
static const enum run_column spare[] = { RUN_CPU,  RUN_STATE, RUN_NEEDED, RUN_WALL,
					 RUN_TAGS, RUN_NOTE,  RUN_START,  RUN_EXIT };

/* What is cut to the least before another column is left out, and gets the room that is left. */
static const enum run_column elastic[] = { RUN_NAME, RUN_TAGS, RUN_NOTE };

#define NR(list) (sizeof(list) / sizeof(*(list)))

struct table {
	const char *const *sources;
	struct run_columns columns;
	size_t width[NR_RUN_COLUMNS]; /* 0: not shown */
};

/* Of all columns but the last, which gets the rest. */
static size_t runs_table_width(const struct table *t)
{
	size_t sum = 0;

	for (size_t i = 0; i + 1 < t->columns.nr; i++)
		if (t->width[t->columns.list[i]])
			sum += t->width[t->columns.list[i]] + (sum ? 2 : 0);
	return sum;
}

static bool runs_have(const struct stored_runs *all, size_t shown, enum run_column col)
{
	bool have = col != RUN_TAGS && col != RUN_NOTE;

	for (size_t i = 0; !have && i < shown; i++)
		have = col == RUN_TAGS ? *all->runs[i].tags != '\0' : all->runs[i].note != NULL;
	return have;
}

/* Each column as wide as its widest cell. */
static void runs_table_measure(struct table *t, const struct stored_runs *all, size_t shown)
{
	char text[RUN_CELL_BYTES];

	for (size_t k = 0; k < t->columns.nr; k++) {
		enum run_column col = t->columns.list[k];

		t->width[col] = strlen(run_column_title(col));
		for (size_t i = 0; i < shown; i++) {
			size_t n =
				format_columns(run_cell_text(text, col, &all->runs[i], t->sources));

			if (n > t->width[col])
				t->width[col] = n;
		}
	}
}

static void runs_table_choose(struct table *t, const struct stored_runs *all, size_t shown)
{
	for (size_t i = 0; i < NR(usual); i++)
		if (runs_have(all, shown, usual[i]))
			t->columns.list[t->columns.nr++] = usual[i];
}

/* Columns are left out until names, tags and notes that are cut fit; the command gets the rest. */
static void runs_table_fit(struct table *t, size_t width)
{
	size_t wanted[NR(elastic)], used, command = t->width[RUN_COMMAND];

	command = command < MAX_NAME ? command + 2 : MAX_NAME + 2;
	for (size_t i = 0; i < NR(elastic); i++) {
		size_t *w = &t->width[elastic[i]];

		wanted[i] = *w < MAX_NAME ? *w : MAX_NAME;
		*w = wanted[i] < MIN_NAME ? wanted[i] : MIN_NAME;
	}
	t->width[RUN_COMMAND] = 0;
	for (size_t i = 0; i < NR(spare) && runs_table_width(t) > width; i++)
		t->width[spare[i]] = 0;
	for (size_t i = 0; i < NR(elastic); i++) {
		size_t *w = &t->width[elastic[i]];

		/* the rest is for the command, but not where the name would be cut for it */
		used = runs_table_width(t) + (elastic[i] == RUN_NAME ? 0 : command);
		if (*w && used < width)
			*w += width - used;
		if (*w > wanted[i])
			*w = wanted[i];
	}
	used = runs_table_width(t);
	if (width > used + 2 + MIN_COMMAND)
		t->width[RUN_COMMAND] = width - used - 2;
}

/* Of columns that were chosen none is left out; the last is cut, if it is a text. */
static void runs_table_fit_chosen(struct table *t, size_t width)
{
	enum run_column last = t->columns.list[t->columns.nr - 1];
	size_t used = runs_table_width(t) + (t->columns.nr > 1 ? 2 : 0);
	size_t left = width > used + MIN_COMMAND ? width - used : MIN_COMMAND;

	if (run_column_is_text(last) && t->width[last] > left)
		t->width[last] = left;
}

static void runs_table_put_cell(FILE *f, const struct table *t, size_t k, const char *text)
{
	enum run_column col = t->columns.list[k];
	size_t width = t->width[col];
	bool is_last = true;

	if (!width)
		return;
	for (size_t i = k + 1; i < t->columns.nr; i++)
		is_last &= !t->width[t->columns.list[i]];
	if (k)
		fputs("  ", f);
	if (is_last && col == RUN_NAME)
		format_name(f, text, width);
	else if (is_last && run_column_is_text(col))
		format_beginning(f, text, width);
	else if (col == RUN_TAGS || col == RUN_NOTE || col == RUN_COMMAND)
		fprintf(f, "%*s", (int)(width - format_beginning(f, text, width)), "");
	else if (run_column_is_text(col))
		format_padded(f, text, width);
	else {
		fprintf(f, "%*s", (int)(width - format_columns(text)), "");
		format_name(f, text, width);
	}
}

static void runs_table_put_row(FILE *f, const struct table *t, const struct stored_run *r)
{
	char text[RUN_CELL_BYTES];

	for (size_t k = 0; k < t->columns.nr; k++) {
		enum run_column col = t->columns.list[k];
		bool is_alarm = run_cell_is_alarm(col, r);
		bool is_running = r->state == RUN_RUNNING && (col == RUN_STATE || col == RUN_WALL);

		if (is_alarm)
			terminal_begin_alarm(f);
		else if (is_running)
			terminal_begin_running(f);
		runs_table_put_cell(f, t, k, run_cell_text(text, col, r, t->sources));
		if (is_alarm || is_running)
			terminal_end_alarm(f);
	}
	fputc('\n', f);
}

void runs_table(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
		const struct run_columns *columns, size_t width)
{
	struct table t = { .sources = sources, .columns = *columns };

	if (!shown) {
		fputs("no runs\n", f);
		return;
	}
	if (!columns->nr)
		runs_table_choose(&t, all, shown);
	runs_table_measure(&t, all, shown);
	if (columns->nr)
		runs_table_fit_chosen(&t, width);
	else
		runs_table_fit(&t, width);
	for (size_t k = 0; k < t.columns.nr; k++)
		runs_table_put_cell(f, &t, k, run_column_title(t.columns.list[k]));
	fputc('\n', f);
	for (size_t i = 0; i < shown; i++)
		runs_table_put_row(f, &t, &all->runs[i]);
	if (shown < all->nr)
		fprintf(f, "%zu of %zu runs; --limit 0 shows all\n", shown, all->nr);
}
