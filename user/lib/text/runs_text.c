// SPDX-License-Identifier: BSD-2-Clause
#include "text/runs_text.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/format.h"
#include "text/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {
	[RUN_RUNNING] = "running",
	[RUN_FINISHED] = "finished",
	[RUN_UNFINISHED] = "unfinished",
};

/* Formats the exit status as a shell reports it; "-" if unknown. */
static void run_format_status(char *out, size_t size, const struct stored_run *r)
{
	if (r->signal > 0 && r->signal <= INT32_MAX)
		snprintf(out, size, "%" PRId64, 128 + r->signal);
	else if (r->exit_code >= 0)
		snprintf(out, size, "%" PRId64, r->exit_code);
	else
		snprintf(out, size, "-");
}

static void run_format_duration(char *out, int64_t ns)
{
	uint64_t s = (uint64_t)ns / NSEC_PER_SEC;

	if (ns < 0)
		snprintf(out, FORMAT_BYTES, "-");
	else if (s < 100)
		format_seconds(out, (uint64_t)ns);
	else if (s < 86400)
		snprintf(out, FORMAT_BYTES, "%" PRIu64 ":%02u:%02u", s / 3600,
			 (unsigned)(s / 60 % 60), (unsigned)(s % 60));
	else
		snprintf(out, FORMAT_BYTES, "%" PRIu64 " d %02u:%02u", s / 86400,
			 (unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60));
}

const char *run_ref_text(char out[RUN_CELL_BYTES], const struct stored_run *r,
			 const char *const *sources)
{
	snprintf(out, RUN_CELL_BYTES, "%s%" PRId64, sources[r->source], r->id);
	return out;
}

/* Returns true if the account is complete and the store has all lines of the run. */
static bool run_is_complete(const struct stored_run *r)
{
	return r->is_complete && r->lines_lost <= 0;
}

/* clang-format off */
static const struct {
	const char *key, *word, *title; /* short name, NULL if the key is short enough */
} run_columns[NR_RUN_COLUMNS] = {
	[RUN_ID] =        { "id", NULL, "id" },
	[RUN_REF] =       { "ref", NULL, "ref" },
	[RUN_START] =     { "start_time", "started", "started" },
	[RUN_STATE] =     { "state", NULL, "state" },
	[RUN_EXIT] =      { "exit_code", "exit", "exit" },
	[RUN_WALL] =      { "wall_seconds", "wall", "wall" },
	[RUN_CPU] =       { "cpu_seconds", "cpu", "CPU" },
	[RUN_NEEDED] =    { "memory_needed_bytes", "memory", "memory" },
	[RUN_WITNESS] =   { "memory_needed_witness", "witness", "known from" },
	[RUN_BOUND] =     { "memory_needed_bound", "bound", "bound" },
	[RUN_PEAK] =      { "rss_peak_bytes", "peak", "peak RSS" },
	[RUN_PROCESSES] = { "processes_total", "processes", "processes" },
	[RUN_NAME] =      { "name", NULL, "name" },
	[RUN_JOB] =       { "job", NULL, "job" },
	[RUN_TAGS] =      { "tags", NULL, "tags" },
	[RUN_NOTE] =      { "note", NULL, "note" },
	[RUN_USER] =      { "user", NULL, "user" },
	[RUN_HOST] =      { "host", NULL, "host" },
	[RUN_UUID] =      { "run", "uuid", "run" },
	[RUN_SIGNAL] =    { "signal", NULL, "signal" },
	[RUN_COMPLETE] =  { "complete", NULL, "complete" },
	[RUN_COMMAND] =   { "command", NULL, "command" },
};
/* clang-format on */

const char *run_state_name(enum run_state state)
{
	return states[state];
}

const char *run_column_key(size_t i)
{
	return i < NR_RUN_COLUMNS ? run_columns[i].key : NULL;
}

const char *run_column_word(enum run_column col)
{
	return run_columns[col].word ? run_columns[col].word : run_columns[col].key;
}

static bool word_is(const char *word, const char *text, size_t length)
{
	return word && text_is(text, length, word);
}

static int run_column_find(const char *text, size_t length, enum run_column *col)
{
	for (int i = 0; i < NR_RUN_COLUMNS; i++) {
		if (!word_is(run_columns[i].key, text, length) &&
		    !word_is(run_columns[i].word, text, length))
			continue;
		*col = (enum run_column)i;
		return 0;
	}
	return -ENOENT;
}

int run_columns_parse(struct run_columns *c, const char *text, const char **bad, size_t *length)
{
	struct run_columns parsed = { 0 };
	enum run_column col;

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");
		int err = run_column_find(p, n, &col);

		for (size_t i = 0; !err && i < parsed.nr; i++)
			err = parsed.list[i] == col ? -EEXIST : 0;
		if (err) {
			*bad = p;
			*length = n;
			return err;
		}
		parsed.list[parsed.nr++] = col;
		p += n;
		if (!*p)
			break;
	}
	*c = parsed;
	return 0;
}

/* Formats the memory needed. A running or old run has only its resident memory. */
static void run_format_needed(char out[RUN_CELL_BYTES], const struct stored_run *r)
{
	char bytes[FORMAT_BYTES];

	if (*r->needed.witness)
		snprintf(out, RUN_CELL_BYTES, "%s%s", needed_bound_sign(&r->needed),
			 format_bytes(bytes, r->needed.bytes));
	else if (r->rss_peak_bytes >= 0)
		snprintf(out, RUN_CELL_BYTES, "RSS %s",
			 format_bytes(bytes, (uint64_t)r->rss_peak_bytes));
}

/* Formats all columns that run_get_text() does not. */
static void run_format_cell(char out[RUN_CELL_BYTES], enum run_column col,
			    const struct stored_run *r, const char *const *sources)
{
	snprintf(out, RUN_CELL_BYTES, "-");
	if (col == RUN_ID || col == RUN_REF)
		run_ref_text(out, r, sources);
	else if (col == RUN_START)
		format_moment(out, r->start_epoch_ns, false);
	else if (col == RUN_EXIT)
		run_format_status(out, RUN_CELL_BYTES, r);
	else if (col == RUN_WALL || col == RUN_CPU)
		run_format_duration(out, col == RUN_WALL ? r->wall_ns : r->cpu_ns);
	else if (col == RUN_NEEDED)
		run_format_needed(out, r);
	else if (col == RUN_PEAK && r->rss_peak_bytes >= 0)
		format_bytes(out, (uint64_t)r->rss_peak_bytes);
	else if (col == RUN_PROCESSES && r->processes >= 0)
		format_count(out, (uint64_t)r->processes);
	else if (col == RUN_SIGNAL && r->signal >= 0)
		snprintf(out, RUN_CELL_BYTES, "%" PRId64, r->signal);
	else if (col == RUN_COMPLETE && r->state == RUN_FINISHED)
		snprintf(out, RUN_CELL_BYTES, run_is_complete(r) ? "yes" : "no");
}

/* Text columns are left-aligned, and cut if needed. */
static bool run_column_is_text(enum run_column col)
{
	return col == RUN_NAME || col == RUN_JOB || col == RUN_TAGS || col == RUN_NOTE ||
	       col == RUN_USER || col == RUN_HOST || col == RUN_UUID || col == RUN_COMMAND ||
	       col == RUN_START || col == RUN_STATE || col == RUN_WITNESS || col == RUN_BOUND;
}

/*
 * Sets *@text to the text of the column, or to NULL if the run has none. Returns false if the
 * column holds no text.
 */
static bool run_get_text(enum run_column col, const struct stored_run *r, const char **text)
{
	const char *const texts[NR_RUN_COLUMNS] = {
		[RUN_STATE] = states[r->state],
		[RUN_WITNESS] = *r->needed.witness ? r->needed.witness : NULL,
		[RUN_BOUND] = *r->needed.bound ? r->needed.bound : NULL,
		[RUN_NAME] = r->name,
		[RUN_JOB] = r->job,
		[RUN_NOTE] = r->note,
		[RUN_USER] = r->user,
		[RUN_HOST] = r->host,
		[RUN_UUID] = r->uuid,
		[RUN_COMMAND] = r->command,
	};

	*text = texts[col];
	return run_column_is_text(col) && col != RUN_START && col != RUN_TAGS;
}

const char *run_cell_text(char out[RUN_CELL_BYTES], enum run_column col, const struct stored_run *r,
			  const char *const *sources)
{
	const char *text;

	if (run_get_text(col, r, &text))
		return text && *text ? text : "-";
	run_format_cell(out, col, r, sources);
	return out;
}

/* Returns true if the cell shows a failed run, or one whose end was not seen. */
static bool run_cell_is_alarm(enum run_column col, const struct stored_run *r)
{
	return (col == RUN_STATE && r->state == RUN_UNFINISHED) ||
	       (col == RUN_EXIT && (r->signal > 0 || r->exit_code > 0));
}

#define MIN_NAME 8
#define MAX_NAME 24
#define MIN_COMMAND 6

static const enum run_column usual[] = {
	RUN_ID,     RUN_START, RUN_STATE, RUN_EXIT, RUN_WALL,    RUN_CPU,
	RUN_NEEDED, RUN_NAME,  RUN_TAGS,  RUN_NOTE, RUN_COMMAND,
};

/* Columns that are left out if the line is too narrow, in this order. */
static const enum run_column spare[] = { RUN_CPU,  RUN_STATE, RUN_NEEDED, RUN_WALL,
					 RUN_TAGS, RUN_NOTE,  RUN_START,  RUN_EXIT };

/* Columns that are cut before others are left out. They share the remaining width. */
static const enum run_column elastic[] = { RUN_NAME, RUN_TAGS, RUN_NOTE };

#define NR(list) (sizeof(list) / sizeof(*(list)))

struct table {
	const char *const *sources;
	struct buffer tags; /* owned; of the current row */
	struct run_columns columns;
	size_t width[NR_RUN_COLUMNS]; /* 0 if not shown */
};

/* Returns the text of a cell; of tags "key=value" separated by blanks. */
static const char *table_cell_text(struct table *t, char out[RUN_CELL_BYTES], enum run_column col,
				   const struct stored_run *r)
{
	if (col != RUN_TAGS || !*r->tags)
		return run_cell_text(out, col, r, t->sources);
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

static bool runs_have(const struct stored_runs *all, size_t shown, enum run_column col)
{
	bool have = col != RUN_TAGS && col != RUN_NOTE;

	for (size_t i = 0; !have && i < shown; i++)
		have = col == RUN_TAGS ? *all->runs[i].tags != '\0' : all->runs[i].note != NULL;
	return have;
}

static void runs_table_measure(struct table *t, const struct stored_runs *all, size_t shown)
{
	char text[RUN_CELL_BYTES];

	for (size_t k = 0; k < t->columns.nr; k++) {
		enum run_column col = t->columns.list[k];

		t->width[col] = strlen(run_columns[col].title);
		for (size_t i = 0; i < shown; i++) {
			size_t n = format_columns(table_cell_text(t, text, col, &all->runs[i]));

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

/*
 * Leaves out columns until shortened names, tags and notes fit. The command gets the remaining
 * width.
 */
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

		/* reserve room for the command, except from the name */
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

/* Keeps all columns that the user chose. Only the last one is cut, if it is text. */
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

static void runs_table_put_row(FILE *f, struct table *t, const struct stored_run *r)
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
		runs_table_put_cell(f, t, k, table_cell_text(t, text, col, r));
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
		runs_table_put_cell(f, &t, k, run_columns[t.columns.list[k]].title);
	fputc('\n', f);
	for (size_t i = 0; i < shown; i++)
		runs_table_put_row(f, &t, &all->runs[i]);
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
		buffer_puts(t, run_is_complete(r) ? "true" : "false");
	else if (col == RUN_EXIT || col == RUN_SIGNAL)
		csv_put_number(t, col == RUN_EXIT ? r->exit_code : r->signal, 0);
	else if (col == RUN_WALL || col == RUN_CPU)
		csv_put_number(t, col == RUN_WALL ? r->wall_ns : r->cpu_ns, 9);
	else if (col == RUN_NEEDED)
		csv_put_number(t, run_needed_bytes(r), 0);
	else if (col == RUN_PEAK || col == RUN_PROCESSES)
		csv_put_number(t, col == RUN_PEAK ? r->rss_peak_bytes : r->processes, 0);
	else if (run_get_text(col, r, &text))
		csv_put_text(t, text);
}

int runs_csv(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
	     const struct run_columns *columns)
{
	struct run_columns chosen = *columns;
	struct buffer t = { 0 };
	bool failed;

	for (; !columns->nr && chosen.nr < NR_RUN_COLUMNS; chosen.nr++)
		chosen.list[chosen.nr] = (enum run_column)chosen.nr;
	for (size_t k = 0; k < chosen.nr; k++)
		buffer_printf(&t, "%s%s", k ? "," : "", run_column_key(chosen.list[k]));
	buffer_puts(&t, "\n");
	for (size_t i = 0; i < shown && !t.failed; i++) {
		for (size_t k = 0; k < chosen.nr; k++) {
			buffer_puts(&t, k ? "," : "");
			csv_put_cell(&t, chosen.list[k], &all->runs[i], sources);
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
	jsonw_string(j, "state", run_state_name(r->state));
	if (r->stall)
		stall_state_write(r->stall, j);
	if (r->state == RUN_FINISHED)
		jsonw_bool(j, "complete", run_is_complete(r));
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
