// SPDX-License-Identifier: BSD-2-Clause
#include "text/run_column.h"

#include "base/clock.h"
#include "text/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const states[] = {
	[RUN_RUNNING] = "running",
	[RUN_FINISHED] = "finished",
	[RUN_UNFINISHED] = "unfinished",
};

/* The exit status as a shell gives it; "-" if it is not known. */
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

bool run_is_complete(const struct stored_run *r)
{
	return r->is_complete && r->lines_lost <= 0;
}

/* clang-format off */
static const struct {
	const char *key, *word, *title; /* word: what is shorter to type; NULL: the key */
} columns[NR_RUN_COLUMNS] = {
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
	return i < NR_RUN_COLUMNS ? columns[i].key : NULL;
}

const char *run_column_word(enum run_column col)
{
	return columns[col].word ? columns[col].word : columns[col].key;
}

const char *run_column_title(enum run_column col)
{
	return columns[col].title;
}

static bool word_is(const char *word, const char *text, size_t length)
{
	return word && strlen(word) == length && !memcmp(word, text, length);
}

static int run_column_find(const char *text, size_t length, enum run_column *col)
{
	for (int i = 0; i < NR_RUN_COLUMNS; i++) {
		if (!word_is(columns[i].key, text, length) &&
		    !word_is(columns[i].word, text, length))
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
		bool is_there = run_column_find(p, n, &col) != 0;

		for (size_t i = 0; !is_there && i < parsed.nr; i++)
			is_there = parsed.list[i] == col;
		if (is_there) { /* or none at all */
			*bad = p;
			*length = n;
			return -EINVAL;
		}
		parsed.list[parsed.nr++] = col;
		p += n;
		if (!*p)
			break;
	}
	*c = parsed;
	return 0;
}

/* "key=value" with blanks between; cut where it is longer than a cell. */
static void run_format_tags(char *out, size_t size, const char *tags)
{
	size_t n = 0;

	for (const char *t = tags; *t && n < size; t += strlen(t) + 1)
		n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " " : "", t);
}

static const char *text_or_none(const char *text)
{
	return text && *text ? text : "-";
}

/* Of one that goes on, or of before there was such a figure, the resident memory, as such. */
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

/* Numbers and what is made of several. */
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
	else if (col == RUN_TAGS && *r->tags)
		run_format_tags(out, RUN_CELL_BYTES, r->tags);
}

const char *run_cell_text(char out[RUN_CELL_BYTES], enum run_column col, const struct stored_run *r,
			  const char *const *sources)
{
	switch (col) {
	case RUN_STATE:
		return states[r->state];
	case RUN_WITNESS:
		return text_or_none(r->needed.witness);
	case RUN_BOUND:
		return text_or_none(r->needed.bound);
	case RUN_NAME:
		return text_or_none(r->name);
	case RUN_JOB:
		return text_or_none(r->job);
	case RUN_NOTE:
		return text_or_none(r->note);
	case RUN_USER:
		return text_or_none(r->user);
	case RUN_HOST:
		return text_or_none(r->host);
	case RUN_UUID:
		return r->uuid;
	case RUN_COMMAND:
		return text_or_none(r->command);
	default:
		run_format_cell(out, col, r, sources);
		return out;
	}
}

bool run_cell_is_alarm(enum run_column col, const struct stored_run *r)
{
	return (col == RUN_STATE && r->state == RUN_UNFINISHED) ||
	       (col == RUN_EXIT && (r->signal > 0 || r->exit_code > 0));
}

bool run_column_is_text(enum run_column col)
{
	return col == RUN_NAME || col == RUN_JOB || col == RUN_TAGS || col == RUN_NOTE ||
	       col == RUN_USER || col == RUN_HOST || col == RUN_UUID || col == RUN_COMMAND ||
	       col == RUN_START || col == RUN_STATE || col == RUN_WITNESS || col == RUN_BOUND;
}
