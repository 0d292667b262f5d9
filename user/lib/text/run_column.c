// SPDX-License-Identifier: BSD-2-Clause
#include "text/run_column.h"

#include "base/text.h"
#include "text/format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
	if (ns < 0)
		snprintf(out, FORMAT_BYTES, "-");
	else
		format_seconds(out, (uint64_t)ns);
}

const char *run_ref_text(char out[RUN_CELL_BYTES], const struct stored_run *r,
			 const char *const *sources)
{
	snprintf(out, RUN_CELL_BYTES, "%s%" PRId64, sources[r->source], r->id);
	return out;
}

bool stored_run_is_complete(const struct stored_run *r)
{
	return r->is_complete && r->lines_lost <= 0;
}

/* clang-format off */
static const struct {
	const char *key, *word, *title; /* short name; NULL: none but that of run/key.h */
} run_columns[NR_RUN_COLUMNS] = {
	[RUN_ID] =        { "id", NULL, "id" },
	[RUN_REF] =       { "ref", NULL, "ref" },
	[RUN_START] =     { "start_time", "started", "started" },
	[RUN_STATE] =     { "state", NULL, "state" },
	[RUN_EXIT] =      { "exit_code", "exit", "exit" },
	[RUN_WALL] =      { "wall_seconds", NULL, "wall" },
	[RUN_CPU] =       { "cpu_seconds", NULL, "CPU" },
	[RUN_NEEDED] =    { "memory_needed_bytes", NULL, "memory" },
	[RUN_WITNESS] =   { "memory_needed_witness", "witness", "known from" },
	[RUN_BOUND] =     { "memory_needed_bound", "bound", "bound" },
	[RUN_PEAK] =      { "rss_peak_bytes", NULL, "peak RSS" },
	[RUN_PROCESSES] = { "processes_total", NULL, "processes" },
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

const char *run_column_key(size_t i)
{
	return i < NR_RUN_COLUMNS ? run_columns[i].key : NULL;
}

/* Returns the short word of a key of run/key.h, or NULL. */
static const char *column_key_word(const char *key)
{
	const char *word, *of;

	for (size_t i = 0; (word = run_key_word(i, &of)); i++)
		if (!strcmp(of, key))
			return word;
	return NULL;
}

const char *run_column_word(enum run_column col)
{
	const char *word = run_columns[col].word ? run_columns[col].word
						 : column_key_word(run_columns[col].key);

	return word ? word : run_columns[col].key;
}

static bool word_is(const char *word, const char *text, size_t length)
{
	return word && text_is(text, length, word);
}

static int run_column_find(const char *text, size_t length, size_t *col)
{
	size_t key;
	int err;

	for (size_t i = 0; i < NR_RUN_COLUMNS; i++) {
		if (!word_is(run_columns[i].key, text, length) &&
		    !word_is(run_columns[i].word, text, length))
			continue;
		*col = i;
		return 0;
	}
	err = run_key_find(text, length, &key);
	if (err)
		return err;
	*col = NR_RUN_COLUMNS + key;
	for (size_t i = 0; i < NR_RUN_COLUMNS; i++)
		if (!strcmp(run_columns[i].key, run_key(key).name))
			*col = i;
	return 0;
}

bool run_column_is_of_key(size_t col)
{
	return col >= NR_RUN_COLUMNS;
}

static int run_columns_add(struct run_columns *c, size_t col)
{
	size_t keys = 0;

	for (size_t i = 0; i < c->nr; i++) {
		keys += run_column_is_of_key(c->list[i]);
		if (c->list[i] == col)
			return -EEXIST;
	}
	if (run_column_is_of_key(col) && keys == MOST_KEY_COLUMNS)
		return -E2BIG;
	c->list[c->nr++] = col;
	return 0;
}

int run_columns_parse(struct run_columns *c, const char *text, const char **bad, size_t *length)
{
	struct run_columns parsed = { 0 };
	size_t col;

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");
		int err = run_column_find(p, n, &col);

		if (!err)
			err = run_columns_add(&parsed, col);
		if (err) {
			*bad = p;
			*length = n;
			return err;
		}
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

/* Formats all columns that run_column_text() does not. */
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
		snprintf(out, RUN_CELL_BYTES, stored_run_is_complete(r) ? "yes" : "no");
}

bool run_column_is_text(size_t col)
{
	return col == RUN_NAME || col == RUN_JOB || col == RUN_TAGS || col == RUN_NOTE ||
	       col == RUN_USER || col == RUN_HOST || col == RUN_UUID || col == RUN_COMMAND ||
	       col == RUN_START || col == RUN_STATE || col == RUN_WITNESS || col == RUN_BOUND;
}

bool run_column_text(enum run_column col, const struct stored_run *r, const char **text)
{
	const char *const texts[NR_RUN_COLUMNS] = {
		[RUN_STATE] = run_state_word(stored_run_state(r)),
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

	if (run_column_text(col, r, &text))
		return text && *text ? text : "-";
	run_format_cell(out, col, r, sources);
	return out;
}

const char *run_column_title(size_t col)
{
	const char *key, *word;

	if (!run_column_is_of_key(col))
		return run_columns[col].title;
	key = run_key(col - NR_RUN_COLUMNS).name;
	word = column_key_word(key);
	return word ? word : key;
}

double run_column_value(const struct run_columns *c, size_t col, size_t i)
{
	size_t before = 0;

	for (size_t k = 0; c->list[k] != col; k++)
		before += run_column_is_of_key(c->list[k]);
	return c->values && i < c->nr_runs ? c->values[before * c->nr_runs + i] : NAN;
}

const char *run_column_name(size_t col)
{
	return run_column_is_of_key(col) ? run_key(col - NR_RUN_COLUMNS).name
					 : run_columns[col].key;
}
