// SPDX-License-Identifier: BSD-2-Clause
#include "text/runs_text.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "run/job_id.h"
#include "text/format.h"
#include "text/terminal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if the cell shows a failed run, or one whose end was not seen. */
static bool run_cell_is_alarm(size_t col, const struct stored_run *r)
{
	return (col == RUN_STATE && r->state == RUN_UNFINISHED) ||
	       (col == RUN_EXIT && (r->signal > 0 || r->exit_code > 0));
}

#define NR(list) (sizeof(list) / sizeof(*(list)))

#define MIN_NAME 8
#define MIN_JOB 30 /* of the ids of jobs of a node */
#define MAX_NAME 24
#define MIN_COMMAND 6
#define DOTS 3 /* columns of "..." */

static const enum run_column usual[] = {
	RUN_ID,     RUN_START, RUN_STATE, RUN_EXIT, RUN_WALL,    RUN_CPU,
	RUN_NEEDED, RUN_NAME,  RUN_TAGS,  RUN_NOTE, RUN_COMMAND,
};

static const enum run_column usual_of_node[] = {
	RUN_ID,  RUN_START,  RUN_STATE, RUN_EXIT, RUN_WALL,
	RUN_CPU, RUN_NEEDED, RUN_USER,  RUN_NAME, RUN_JOB,
};

/* Columns that are left out if the line is too narrow, in this order. */
static const enum run_column spare[] = { RUN_CPU,  RUN_STATE, RUN_NEEDED, RUN_WALL,
					 RUN_TAGS, RUN_NOTE,  RUN_START,  RUN_EXIT };
static const enum run_column spare_of_node[] = { RUN_CPU,    RUN_START, RUN_WALL, RUN_EXIT,
						 RUN_NEEDED, RUN_USER,  RUN_NAME, RUN_STATE };
_Static_assert(NR(spare) == NR(spare_of_node), "the same number of columns can be left out");

/* Columns that are cut before others are left out. They share the remaining width. */
static const enum run_column elastic[] = { RUN_NAME, RUN_TAGS, RUN_NOTE };

struct table {
	const char *const *sources;
	struct buffer tags; /* owned; of the current row */
	struct run_columns columns;
	size_t width[NR_LIST_COLUMNS];  /* 0 if not shown */
	size_t common[NR_LIST_COLUMNS]; /* bytes that all cells begin with, "-" aside; 0: one text
					 */
};

/* Returns the text of a cell; of tags "key=value" separated by blanks. */
static const char *table_cell_text(struct table *t, char out[RUN_CELL_BYTES], size_t col,
				   const struct stored_runs *all, size_t i)
{
	const struct stored_run *r = &all->runs[i];

	if (run_column_is_of_key(col)) {
		double value = run_column_value(&t->columns, col, i);

		if (isnan(value))
			return "-";
		return number_format(out, run_key(col - NR_RUN_COLUMNS).unit, value);
	}
	if (col == RUN_JOB && r->job)
		return job_id_format(out, RUN_CELL_BYTES, r->job);
	if (col != RUN_TAGS || !*r->tags)
		return run_cell_text(out, (enum run_column)col, r, t->sources);
	t->tags.used = 0;
	for (const char *tag = r->tags; *tag; tag += strlen(tag) + 1)
		buffer_printf(&t->tags, "%s%s", tag == r->tags ? "" : " ", tag);
	buffer_put(&t->tags, "", 1);
	return t->tags.failed ? "-" : t->tags.text;
}

/* Returns the width of all columns but the last, which gets the remaining width. */
static size_t runs_table_width(const struct table *t)
{
	size_t sum = 0;

	for (size_t i = 0; i + 1 < t->columns.nr; i++)
		if (t->width[t->columns.list[i]])
			sum += t->width[t->columns.list[i]] + (sum ? 2 : 0);
	return sum;
}

/* Returns whether the column is shown by default: it may have no cell with a value. */
static bool runs_have(const struct stored_runs *all, size_t shown, enum run_column col,
		      bool of_node)
{
	bool have = col != RUN_TAGS && col != RUN_NOTE && !of_node;

	for (size_t i = 0; !have && i < shown; i++) {
		const struct stored_run *r = &all->runs[i];

		have = col == RUN_TAGS   ? *r->tags != '\0'
		       : col == RUN_NOTE ? r->note != NULL
		       : col == RUN_NAME ? r->name != NULL
		       : col == RUN_EXIT ? r->exit_code >= 0 || r->signal > 0
					 : true;
	}
	return have;
}

/* Returns how many bytes @a and @b begin with, without a part of a character. */
static size_t common_prefix(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	while (n && ((unsigned char)a[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* Measures what the cells of a text have in common: what is cut first. */
static size_t column_common(struct table *t, const struct stored_runs *all, size_t shown,
			    size_t col)
{
	__cleanup(freep) char *first = NULL;
	char text[RUN_CELL_BYTES];
	size_t common = 0;

	for (size_t i = 0; i < shown; i++) {
		const char *cell = table_cell_text(t, text, col, all, i);
		size_t n;

		if (!strcmp(cell, "-"))
			continue;
		if (!first) {
			first = memory_strdup(cell);
			common = strlen(cell);
			continue;
		}
		n = common_prefix(first, cell);
		common = n < common ? n : common;
	}
	return first && common < strlen(first) ? common : 0;
}

static void runs_table_measure(struct table *t, const struct stored_runs *all, size_t shown)
{
	char text[RUN_CELL_BYTES];

	for (size_t k = 0; k < t->columns.nr; k++) {
		size_t col = t->columns.list[k];

		t->width[col] = strlen(run_column_title(col));
		for (size_t i = 0; i < shown; i++) {
			size_t n = format_columns(table_cell_text(t, text, col, all, i));

			if (n > t->width[col])
				t->width[col] = n;
		}
		if (col == RUN_NAME || col == RUN_TAGS)
			t->common[col] = column_common(t, all, shown, col);
	}
}

static void runs_table_choose(struct table *t, const struct stored_runs *all, size_t shown)
{
	const bool of_node = t->columns.of_node;
	const enum run_column *list = of_node ? usual_of_node : usual;
	const size_t nr = of_node ? NR(usual_of_node) : NR(usual);

	for (size_t i = 0; i < nr; i++)
		if (runs_have(all, shown, list[i], of_node))
			t->columns.list[t->columns.nr++] = list[i];
}

/*
 * Leaves out columns until shortened names, tags and notes fit. The last column, the command or the
 * job, gets the remaining width.
 */
static void runs_table_fit(struct table *t, size_t width)
{
	const enum run_column *left_out = t->columns.of_node ? spare_of_node : spare;
	const size_t last = t->columns.list[t->columns.nr - 1];
	size_t wanted[NR(elastic)], used, command = t->width[last], least = 0;

	if (t->columns.of_node)
		least = 2 + (command < MIN_JOB ? command : MIN_JOB);
	command = command < MAX_NAME ? command + 2 : MAX_NAME + 2;
	for (size_t i = 0; i < NR(elastic); i++) {
		size_t *w = &t->width[elastic[i]];

		wanted[i] = *w < MAX_NAME ? *w : MAX_NAME;
		*w = wanted[i] < MIN_NAME ? wanted[i] : MIN_NAME;
	}
	t->width[last] = 0;
	for (size_t i = 0; i < NR(spare) && runs_table_width(t) + least > width; i++)
		t->width[left_out[i]] = 0;
	for (size_t i = 0; i < NR(elastic); i++) {
		size_t *w = &t->width[elastic[i]];

		/* reserve room for the last column, except from the name */
		used = runs_table_width(t) + (elastic[i] == RUN_NAME ? least : command);
		if (*w && used < width)
			*w += width - used;
		if (*w > wanted[i])
			*w = wanted[i];
	}
	used = runs_table_width(t);
	if (width > used + 2 + MIN_COMMAND)
		t->width[last] = width - used - 2;
}

/* Keeps all columns that the user chose. Only the last one is cut, if it is text. */
static void runs_table_fit_chosen(struct table *t, size_t width)
{
	size_t last = t->columns.list[t->columns.nr - 1];
	size_t used = runs_table_width(t) + (t->columns.nr > 1 ? 2 : 0);
	size_t left = width > used + MIN_COMMAND ? width - used : MIN_COMMAND;

	if (run_column_is_text(last) && t->width[last] > left)
		t->width[last] = left;
}

/*
 * Writes a text whose first @common bytes are the same in all rows. If it is too wide, only the
 * word that differs is written, with as much of what precedes it as fits.
 */
static size_t format_differing(FILE *f, const char *text, size_t width, size_t common)
{
	size_t word, columns, from = common;
	char part[RUN_CELL_BYTES];

	if (!common || strlen(text) < common || format_columns(text) <= width)
		return format_middle(f, text, width);
	word = strcspn(text + common, " ");
	snprintf(part, sizeof(part), "%.*s", (int)word, text + common);
	columns = format_columns(part) + DOTS;
	if (columns > width)
		return format_beginning(f, part, width);
	for (; from && columns < width; columns++)
		from--;
	while (((unsigned char)text[from] & 0xc0) == 0x80)
		from++;
	snprintf(part, sizeof(part), "%s%.*s", from ? "..." : "", (int)(common + word - from),
		 text + from);
	return format_name(f, part, width);
}

static void runs_table_put_cell(FILE *f, const struct table *t, size_t k, const char *text)
{
	size_t col = t->columns.list[k], width = t->width[col];
	bool is_last = true;

	if (!width)
		return;
	for (size_t i = k + 1; i < t->columns.nr; i++)
		is_last &= !t->width[t->columns.list[i]];
	if (k)
		fputs("  ", f);
	if (col == RUN_NAME || col == RUN_TAGS) {
		size_t used = format_differing(f, text, width, t->common[col]);

		fprintf(f, "%*s", is_last ? 0 : (int)(width - used), "");
	} else if (is_last && col == RUN_JOB)
		format_middle(f, text, width);
	else if (is_last && run_column_is_text(col))
		format_beginning(f, text, width);
	else if (col == RUN_NOTE || col == RUN_COMMAND)
		fprintf(f, "%*s", (int)(width - format_beginning(f, text, width)), "");
	else if (run_column_is_text(col))
		format_padded(f, text, width);
	else {
		fprintf(f, "%*s", (int)(width - format_columns(text)), "");
		format_name(f, text, width);
	}
}

static void runs_table_put_row(FILE *f, struct table *t, const struct stored_runs *all, size_t i)
{
	const struct stored_run *r = &all->runs[i];
	char text[RUN_CELL_BYTES];

	for (size_t k = 0; k < t->columns.nr; k++) {
		size_t col = t->columns.list[k];
		bool is_alarm = run_cell_is_alarm(col, r);
		bool is_running = r->state == RUN_RUNNING && (col == RUN_STATE || col == RUN_WALL);

		if (is_alarm)
			terminal_begin_alarm(f);
		else if (is_running)
			terminal_begin_running(f);
		runs_table_put_cell(f, t, k, table_cell_text(t, text, col, all, i));
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
	else if (width < TEXT_UNCUT)
		runs_table_fit(&t, width);
	for (size_t k = 0; k < t.columns.nr; k++)
		runs_table_put_cell(f, &t, k, run_column_title(t.columns.list[k]));
	fputc('\n', f);
	for (size_t i = 0; i < shown; i++)
		runs_table_put_row(f, &t, all, i);
	if (shown < all->nr)
		fprintf(f, "%zu of %zu runs; --limit 0 shows all\n", shown, all->nr);
	buffer_done(&t.tags);
}

/* Writes @text, quoted if needed (RFC 4180). */
static void csv_put_text(struct buffer *t, const char *text)
{
	if (!text)
		return;
	if (!text[strcspn(text, ",\"\r\n")] && *text)
		buffer_puts(t, text);
	else
		buffer_put_quoted(t, text);
}

static void csv_put_number(struct buffer *t, int64_t v, unsigned decimals)
{
	if (v >= 0)
		buffer_put_decimal(t, (uint64_t)v, decimals);
}

/* Writes "key=value;key=value". */
static void csv_put_tags(struct buffer *t, const char *tags)
{
	struct buffer all = { 0 };

	for (const char *tag = tags; *tag; tag += strlen(tag) + 1) {
		buffer_puts(&all, tag == tags ? "" : ";");
		buffer_puts(&all, tag);
	}
	buffer_put(&all, "", 1);
	if (*tags && !all.failed)
		csv_put_text(t, all.text);
	t->failed |= all.failed;
	buffer_done(&all);
}

static void csv_put_cell(struct buffer *t, enum run_column col, const struct stored_run *r,
			 const char *const *sources)
{
	char ref[RUN_CELL_BYTES];
	const char *text;

	if (col == RUN_ID)
		csv_put_number(t, r->id, 0);
	else if (col == RUN_REF)
		csv_put_text(t, run_ref_text(ref, r, sources));
	else if (col == RUN_START)
		buffer_put_decimal(t, r->start_epoch_ns / 1000, 6);
	else if (col == RUN_TAGS)
		csv_put_tags(t, r->tags);
	else if (col == RUN_COMPLETE && r->state == RUN_FINISHED)
		buffer_puts(t, stored_run_is_complete(r) ? "true" : "false");
	else if (col == RUN_EXIT || col == RUN_SIGNAL)
		csv_put_number(t, col == RUN_EXIT ? r->exit_code : r->signal, 0);
	else if (col == RUN_WALL || col == RUN_CPU)
		csv_put_number(t, col == RUN_WALL ? r->wall_ns : r->cpu_ns, 9);
	else if (col == RUN_NEEDED)
		csv_put_number(t, run_needed_bytes(r), 0);
	else if (col == RUN_PEAK || col == RUN_PROCESSES)
		csv_put_number(t, col == RUN_PEAK ? r->rss_peak_bytes : r->processes, 0);
	else if (run_column_text(col, r, &text))
		csv_put_text(t, text);
}

static void csv_put_value(struct buffer *t, const struct run_columns *c, size_t col, size_t i)
{
	double value = run_column_value(c, col, i);
	char out[DOUBLE_TEXT];

	if (isfinite(value))
		buffer_put(t, out, (size_t)double_format(out, value));
}

int runs_csv(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
	     const struct run_columns *columns)
{
	struct run_columns chosen = *columns;
	struct buffer t = { 0 };
	bool failed;

	for (; !columns->nr && chosen.nr < NR_RUN_COLUMNS; chosen.nr++)
		chosen.list[chosen.nr] = chosen.nr;
	for (size_t k = 0; k < chosen.nr; k++)
		buffer_printf(&t, "%s%s", k ? "," : "", run_column_name(chosen.list[k]));
	buffer_puts(&t, "\n");
	for (size_t i = 0; i < shown && !t.failed; i++) {
		for (size_t k = 0; k < chosen.nr; k++) {
			buffer_puts(&t, k ? "," : "");
			if (run_column_is_of_key(chosen.list[k]))
				csv_put_value(&t, &chosen, chosen.list[k], i);
			else
				csv_put_cell(&t, (enum run_column)chosen.list[k], &all->runs[i],
					     sources);
		}
		buffer_puts(&t, "\n");
		if (!t.failed)
			fwrite(t.text, 1, t.used, f);
		if (!t.failed)
			t.used = 0;
	}
	if (t.used && !t.failed)
		fwrite(t.text, 1, t.used, f);
	failed = t.failed;
	buffer_done(&t);
	return failed ? -ENOMEM : 0;
}

static void run_put_json_number(struct jsonw *j, const char *key, int64_t v, unsigned decimals)
{
	if (v >= 0)
		jsonw_decimal(j, key, (uint64_t)v, decimals);
	else
		jsonw_null(j, key);
}

static void run_put_json_tags(struct jsonw *j, const char *tags)
{
	jsonw_object(j, "tags");
	for (const char *t = tags; *t; t += strlen(t) + 1) {
		const char *value = strchr(t, '=');
		char *key = value ? memory_strndup(t, (size_t)(value - t)) : NULL;

		if (key)
			jsonw_string(j, key, value + 1);
		free(key);
	}
	jsonw_object_end(j);
}

static void run_put_json(struct jsonw *j, const struct stored_run *r, const char *const *sources)
{
	char ref[RUN_CELL_BYTES];

	jsonw_object(j, NULL);
	jsonw_schema(j, "list");
	jsonw_int(j, "id", r->id);
	jsonw_string(j, "ref", run_ref_text(ref, r, sources));
	jsonw_string(j, "run", r->uuid);
	jsonw_string(j, "name", r->name);
	jsonw_string(j, "job", r->job);
	jsonw_string(j, "command", r->command);
	jsonw_string(j, "user", r->user);
	jsonw_string(j, "host", r->host);
	run_put_json_tags(j, r->tags);
	jsonw_string(j, "note", r->note);
	jsonw_decimal(j, "start_time", r->start_epoch_ns / 1000, 6);
	jsonw_string(j, "state", run_state_word(stored_run_state(r)));
	if (r->stall)
		stall_state_write(r->stall, j);
	if (r->state == RUN_FINISHED)
		jsonw_bool(j, "complete", stored_run_is_complete(r));
	run_put_json_number(j, "exit_code", r->exit_code, 0);
	run_put_json_number(j, "signal", r->signal, 0);
	run_put_json_number(j, "wall_seconds", r->wall_ns, 9);
	run_put_json_number(j, "cpu_seconds", r->cpu_ns, 9);
	run_put_json_number(j, "memory_needed_bytes", run_needed_bytes(r), 0);
	jsonw_string(j, "memory_needed_witness", *r->needed.witness ? r->needed.witness : NULL);
	jsonw_string(j, "memory_needed_bound", *r->needed.bound ? r->needed.bound : NULL);
	run_put_json_number(j, "rss_peak_bytes", r->rss_peak_bytes, 0);
	run_put_json_number(j, "processes_total", r->processes, 0);
	jsonw_object_end(j);
	jsonw_newline(j);
}

int runs_json(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources)
{
	struct jsonw j = { 0 };
	bool failed = false;

	for (size_t i = 0; i < shown && !failed; i++) {
		jsonw_reset(&j);
		run_put_json(&j, &all->runs[i], sources);
		failed = j.failed;
		if (!failed)
			fwrite(j.text, 1, j.used, f);
	}
	jsonw_done(&j);
	return failed ? -ENOMEM : 0;
}
