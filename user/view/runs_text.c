// SPDX-License-Identifier: BSD-2-Clause
#include "view/runs_text.h"

#include "base/clock.h"
#include "base/json.h"
#include "view/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIN_NAME 8
#define MAX_NAME 24
#define MIN_COMMAND 6
#define ID_BYTES 300 /* of any formatted cell, too */

static const char *const states[] = {
	[RUN_RUNNING] = "running",
	[RUN_FINISHED] = "finished",
	[RUN_UNFINISHED] = "unfinished",
};

static void run_format_start(char *out, size_t size, uint64_t ns)
{
	time_t at = (time_t)(ns / NSEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&at, &tm) || !strftime(out, size, "%Y-%m-%d %H:%M", &tm))
		snprintf(out, size, "-");
}

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

static void run_format_id(char *out, size_t size, const struct stored_run *r,
			  const char *const *sources)
{
	snprintf(out, size, "%s%" PRId64, sources[r->source], r->id);
}

enum column {
	COL_ID,
	COL_START,
	COL_STATE,
	COL_EXIT,
	COL_WALL,
	COL_CPU,
	COL_PEAK,
	COL_NAME,
	COL_COMMAND,
	NR_COLUMNS
};

static const char *const titles[NR_COLUMNS] = {
	[COL_ID] = "id",         [COL_START] = "started", [COL_STATE] = "state",
	[COL_EXIT] = "exit",     [COL_WALL] = "wall",     [COL_CPU] = "CPU",
	[COL_PEAK] = "peak RSS", [COL_NAME] = "name",     [COL_COMMAND] = "command",
};

/* The order in which columns are left out of a line that is too narrow. */
static const enum column spare[] = { COL_CPU, COL_STATE, COL_PEAK, COL_WALL, COL_START, COL_EXIT };
#define NR_SPARE (sizeof(spare) / sizeof(*spare))

struct table {
	const char *const *sources;
	size_t width[NR_COLUMNS]; /* 0: not shown */
};

/* Returns the text, which may be in @out. */
static const char *run_cell_text(char out[ID_BYTES], const struct table *t, enum column col,
				 const struct stored_run *r)
{
	snprintf(out, ID_BYTES, "-");
	switch (col) {
	case COL_ID:
		run_format_id(out, ID_BYTES, r, t->sources);
		break;
	case COL_START:
		run_format_start(out, ID_BYTES, r->start_epoch_ns);
		break;
	case COL_STATE:
		return states[r->state];
	case COL_EXIT:
		run_format_status(out, ID_BYTES, r);
		break;
	case COL_WALL:
		run_format_duration(out, r->wall_ns);
		break;
	case COL_CPU:
		run_format_duration(out, r->cpu_ns);
		break;
	case COL_PEAK:
		if (r->rss_peak_bytes >= 0)
			format_bytes(out, (uint64_t)r->rss_peak_bytes);
		break;
	case COL_NAME:
		return r->name ? r->name : "-";
	default:
		return r->command ? r->command : "-";
	}
	return out;
}

/* Of all columns but the last, which gets the rest. */
static size_t runs_table_width(const struct table *t)
{
	size_t sum = t->width[COL_ID];

	for (enum column col = COL_ID + 1; col < COL_COMMAND; col++)
		sum += t->width[col] ? t->width[col] + 2 : 0;
	return sum;
}

/* Each column as wide as its widest cell; then columns are left out until a cut name fits. */
static void runs_table_fit(struct table *t, const struct stored_runs *all, size_t shown,
			   size_t width)
{
	size_t name, used;
	char text[ID_BYTES];

	for (enum column col = COL_ID; col < COL_COMMAND; col++) {
		t->width[col] = strlen(titles[col]);
		for (size_t i = 0; i < shown; i++) {
			size_t n = format_columns(run_cell_text(text, t, col, &all->runs[i]));

			if (n > t->width[col])
				t->width[col] = n;
		}
	}
	name = t->width[COL_NAME] < MAX_NAME ? t->width[COL_NAME] : MAX_NAME;
	t->width[COL_NAME] = name < MIN_NAME ? name : MIN_NAME;
	for (size_t i = 0; i < NR_SPARE && runs_table_width(t) > width; i++)
		t->width[spare[i]] = 0;
	used = runs_table_width(t);
	if (used < width)
		t->width[COL_NAME] += width - used;
	if (t->width[COL_NAME] > name)
		t->width[COL_NAME] = name;
	used = runs_table_width(t);
	if (width > used + 2 + MIN_COMMAND)
		t->width[COL_COMMAND] = width - used - 2;
}

static void runs_table_put_cell(FILE *f, const struct table *t, enum column col, const char *text)
{
	size_t width = t->width[col];

	if (!width)
		return;
	if (col != COL_ID)
		fputs("  ", f);
	if (col == COL_COMMAND) {
		format_beginning(f, text, width);
	} else if (col == COL_NAME && !t->width[COL_COMMAND]) {
		format_name(f, text, width);
	} else if (col == COL_START || col == COL_STATE || col == COL_NAME) {
		format_padded(f, text, width);
	} else {
		fprintf(f, "%*s", (int)(width - format_columns(text)), "");
		format_name(f, text, width);
	}
}

void runs_table(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
		size_t width)
{
	struct table t = { .sources = sources };
	char text[ID_BYTES];

	if (!shown) {
		fputs("no runs\n", f);
		return;
	}
	runs_table_fit(&t, all, shown, width);
	for (enum column col = COL_ID; col < NR_COLUMNS; col++)
		runs_table_put_cell(f, &t, col, titles[col]);
	fputc('\n', f);
	for (size_t i = 0; i < shown; i++) {
		for (enum column col = COL_ID; col < NR_COLUMNS; col++)
			runs_table_put_cell(f, &t, col,
					    run_cell_text(text, &t, col, &all->runs[i]));
		fputc('\n', f);
	}
	if (shown < all->nr)
		fprintf(f, "%zu of %zu runs; --limit 0 shows all\n", shown, all->nr);
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
		char *key = value ? strndup(t, (size_t)(value - t)) : NULL;

		if (key)
			jsonw_string(j, key, value + 1);
		free(key);
	}
	jsonw_object_end(j);
}

static void run_put_json(struct jsonw *j, const struct stored_run *r, const char *const *sources)
{
	char id[ID_BYTES];

	run_format_id(id, sizeof(id), r, sources);
	jsonw_object(j, NULL);
	jsonw_string(j, "id", id);
	jsonw_string(j, "run", r->uuid);
	jsonw_string(j, "name", r->name);
	jsonw_string(j, "job", r->job);
	jsonw_string(j, "command", r->command);
	jsonw_string(j, "user", r->user);
	jsonw_string(j, "host", r->host);
	run_put_json_tags(j, r->tags);
	jsonw_decimal(j, "start_time", r->start_epoch_ns / 1000, 6);
	jsonw_string(j, "state", states[r->state]);
	if (r->state == RUN_FINISHED)
		jsonw_bool(j, "complete", r->is_complete && r->lines_lost <= 0);
	run_put_json_number(j, "exit_code", r->exit_code, 0);
	run_put_json_number(j, "signal", r->signal, 0);
	run_put_json_number(j, "wall_seconds", r->wall_ns, 9);
	run_put_json_number(j, "cpu_seconds", r->cpu_ns, 9);
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
