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
#define FIXED_COLUMNS 67 /* what stands between the number and the name, the blanks included */

static const char *const states[] = {
	[RUN_RUNNING] = "running",
	[RUN_FINISHED] = "finished",
	[RUN_UNFINISHED] = "unfinished",
};

static void started(char *out, size_t size, uint64_t ns)
{
	time_t at = (time_t)(ns / NSEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&at, &tm) || !strftime(out, size, "%Y-%m-%d %H:%M", &tm))
		snprintf(out, size, "-");
}

/* How it ended, as a shell would number it; what is not known is "-". */
static void ending(char *out, size_t size, const struct stored_run *r)
{
	if (r->signal > 0)
		snprintf(out, size, "%" PRId64, 128 + r->signal);
	else if (r->exit_code >= 0)
		snprintf(out, size, "%" PRId64, r->exit_code);
	else
		snprintf(out, size, "-");
}

static void duration(char *out, int64_t ns)
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

static void id_of(char *out, size_t size, const struct stored_run *r, const char *const *sources)
{
	snprintf(out, size, "%s%" PRId64, sources[r->source], r->id);
}

static void row(FILE *f, const struct stored_run *r, const char *id, int id_width,
		size_t name_width, size_t command_width)
{
	char start[32], exit[24], wall[FORMAT_BYTES], cpu[FORMAT_BYTES], peak[FORMAT_BYTES] = "-";
	const char *name = r->name ? r->name : "-";

	started(start, sizeof(start), r->start_epoch_ns);
	ending(exit, sizeof(exit), r);
	duration(wall, r->wall_ns);
	duration(cpu, r->cpu_ns);
	if (r->rss_peak_bytes >= 0)
		format_bytes(peak, (uint64_t)r->rss_peak_bytes);
	fprintf(f, "%*s  %-16s  %-10s  %4s  %10s  %10s  %8s  ", id_width, id, start,
		states[r->state], exit, wall, cpu, peak);
	for (size_t n = format_name(f, name, name_width); n < name_width; n++)
		fputc(' ', f);
	if (command_width) {
		fputs("  ", f);
		format_beginning(f, r->command ? r->command : "-", command_width);
	}
	fputc('\n', f);
}

void runs_table(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
		size_t width)
{
	size_t id_width = 2, name_width = MIN_NAME, used, command;
	char id[300];

	for (size_t i = 0; i < shown; i++) {
		size_t n = all->runs[i].name ? strlen(all->runs[i].name) : 0;

		id_of(id, sizeof(id), &all->runs[i], sources);
		if (strlen(id) > id_width)
			id_width = strlen(id);
		if (n > name_width)
			name_width = n < MAX_NAME ? n : MAX_NAME;
	}
	used = id_width + FIXED_COLUMNS + 11;
	if (used + MIN_NAME > width || name_width > width - used)
		name_width = used + MIN_NAME > width ? MIN_NAME : width - used;
	used += name_width + 2;
	command = width > used + 6 ? width - used : 0;
	if (!shown) {
		fputs("no runs\n", f);
		return;
	}
	fprintf(f, "%*s  %-16s  %-10s  %4s  %10s  %10s  %8s  %-*s%s\n", (int)id_width, "id",
		"started", "state", "exit", "wall", "CPU", "peak RSS",
		command ? (int)name_width : 0, "name", command ? "  command" : "");
	for (size_t i = 0; i < shown; i++) {
		id_of(id, sizeof(id), &all->runs[i], sources);
		row(f, &all->runs[i], id, (int)id_width, name_width, command);
	}
	if (shown < all->nr)
		fprintf(f, "%zu of %zu runs; --limit 0 shows all\n", shown, all->nr);
}

static void put_known(struct json *j, const char *key, int64_t v, unsigned decimals)
{
	if (v >= 0)
		jw_decimal(j, key, (uint64_t)v, decimals);
	else
		jw_null(j, key);
}

static void put_tags(struct json *j, const char *tags)
{
	jw_object(j, "tags");
	for (const char *t = tags; *t; t += strlen(t) + 1) {
		const char *value = strchr(t, '=');
		char *key = value ? strndup(t, (size_t)(value - t)) : NULL;

		if (key)
			jw_string(j, key, value + 1);
		free(key);
	}
	jw_object_end(j);
}

static void run_json(struct json *j, const struct stored_run *r, const char *const *sources)
{
	char id[300];

	id_of(id, sizeof(id), r, sources);
	jw_object(j, NULL);
	jw_string(j, "id", id);
	jw_string(j, "run", r->uuid);
	jw_string(j, "name", r->name);
	jw_string(j, "job", r->job);
	jw_string(j, "command", r->command);
	jw_string(j, "user", r->user);
	jw_string(j, "host", r->host);
	put_tags(j, r->tags);
	jw_decimal(j, "start_time", r->start_epoch_ns / 1000, 6);
	jw_string(j, "state", states[r->state]);
	if (r->state == RUN_FINISHED)
		jw_bool(j, "complete", r->is_complete && r->lines_lost <= 0);
	put_known(j, "exit_code", r->exit_code, 0);
	put_known(j, "signal", r->signal, 0);
	put_known(j, "wall_seconds", r->wall_ns, 9);
	put_known(j, "cpu_seconds", r->cpu_ns, 9);
	put_known(j, "rss_peak_bytes", r->rss_peak_bytes, 0);
	put_known(j, "processes_total", r->processes, 0);
	jw_object_end(j);
	jw_newline(j);
}

int runs_json(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources)
{
	struct json j = { 0 };
	bool failed = false;

	for (size_t i = 0; i < shown && !failed; i++) {
		jw_reset(&j);
		run_json(&j, &all->runs[i], sources);
		failed = j.failed;
		if (!failed)
			fwrite(j.text, 1, j.used, f);
	}
	jw_done(&j);
	return failed ? -ENOMEM : 0;
}
