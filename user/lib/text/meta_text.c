// SPDX-License-Identifier: BSD-2-Clause
#include "text/meta_text.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/number.h"
#include "run/tree.h"
#include "text/format.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEFT 14          /* column of the text, as in the summary */
#define TITLE_COLUMNS 40 /* limit of each part of a title */

static const char *meta_string(const json_t *meta, const char *key)
{
	return json_string_value(json_object_get(meta, key));
}

static void meta_put_row(FILE *f, const char *title, const char *text, size_t width)
{
	fprintf(f, "  %-11s ", title);
	format_beginning(f, text, width > LEFT ? width - LEFT : 1);
	fputc('\n', f);
}

char *meta_format(const json_t *meta, void (*write)(FILE *f, const json_t *meta))
{
	char *text = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&text, &length);

	if (!f)
		return NULL;
	write(f, meta);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* Writes the output of @write as a row, or nothing if it is empty. */
static void meta_put_made(FILE *f, const char *title, void (*write)(FILE *f, const json_t *meta),
			  const json_t *meta, size_t width)
{
	__cleanup(freep) char *text = meta_format(meta, write);

	if (text && *text)
		meta_put_row(f, title, text, width);
}

static void meta_write_command(FILE *f, const json_t *meta)
{
	tree_print_words(f, json_object_get(meta, "command"));
}

static void meta_write_target(FILE *f, const json_t *meta)
{
	const json_t *to = json_object_get(meta, "attached");
	const char *container = meta_string(to, "container"), *cgroup = meta_string(to, "cgroup");

	if (container)
		fprintf(f, "container %s", container);
	else if (cgroup)
		fprintf(f, "cgroup %s", cgroup);
	else if (to)
		tree_print_words(f, json_object_get(to, "pids"));
}

void meta_write_subject(FILE *f, const json_t *meta)
{
	const char *name = meta_string(meta, "name");
	bool has_command = json_array_size(json_object_get(meta, "command"));

	if (name)
		fputs(name, f);
	if (name && (has_command || json_object_get(meta, "attached")))
		fputs(": ", f);
	meta_write_command(f, meta);
	meta_write_target(f, meta);
}

static void meta_write_tags(FILE *f, const json_t *meta)
{
	json_t *tags = json_object_get(meta, "tags"), *v;
	const char *key, *between = "";

	json_object_foreach(tags, key, v) {
		fprintf(f, "%s%s=%s", between, key, json_is_string(v) ? json_string_value(v) : "");
		between = " ";
	}
}

static void meta_write_time(FILE *f, const json_t *meta)
{
	double started = json_number_value(json_object_get(meta, "start_time"));
	uint64_t at_ns = number_clamp(floor(started) * 1e9);
	char when[MOMENT_BYTES];

	if (at_ns && at_ns < INT64_MAX) /* larger values are no valid time */
		fputs(format_moment(when, at_ns, true), f);
}

/*
 * Writes @before and the output of @write, cut so that a long command leaves room for the following
 * parts.
 */
static void meta_put_part(FILE *f, const char *before, const json_t *meta,
			  void (*write)(FILE *f, const json_t *meta))
{
	__cleanup(freep) char *text = meta_format(meta, write);

	if (!text || !*text)
		return;
	fputs(before, f);
	format_beginning(f, text, TITLE_COLUMNS);
}

static void meta_write_name(FILE *f, const json_t *meta)
{
	const char *name = meta_string(meta, "name");

	if (name)
		fputs(name, f);
	else if (json_object_get(meta, "command"))
		meta_write_command(f, meta);
	else
		meta_write_target(f, meta);
}

bool meta_is_of_job(const json_t *meta)
{
	const json_t *job = json_object_get(meta, "node_job");
	const char *kind = json_string_value(json_object_get(job, "kind"));

	return kind && strcmp(kind, "run") != 0;
}

char *meta_title(const json_t *meta)
{
	char *text = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&text, &length);

	if (!f)
		return NULL;
	meta_put_part(f, "", meta, meta_write_name);
	meta_put_part(f, "  ", meta, meta_write_tags);
	meta_put_part(f, "  ", meta, meta_write_time);
	if (!fclose(f) && *text)
		return text;
	free(text);
	return NULL;
}

static void meta_write_start(FILE *f, const json_t *meta)
{
	const char *user = meta_string(meta, "user"), *host = meta_string(meta, "host");

	meta_write_time(f, meta);
	if (user)
		fprintf(f, " by %s", user);
	if (host)
		fprintf(f, " on %s", host);
}

void meta_text(FILE *f, const json_t *meta, size_t width)
{
	static const struct {
		const char *title;
		void (*write)(FILE *f, const json_t *meta);
	} made[] = {
		{ "command", meta_write_command },
		{ "attached to", meta_write_target },
		{ "started", meta_write_start },
		{ "tags", meta_write_tags },
	};
	const char *name = meta_string(meta, "name"), *job = meta_string(meta, "job");
	const char *note = meta_string(meta, "note");

	if (name)
		meta_put_row(f, "name", name, width);
	if (job)
		meta_put_row(f, "job", job, width);
	if (note)
		meta_put_row(f, "note", note, width);
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		meta_put_made(f, made[i].title, made[i].write, meta, width);
}
