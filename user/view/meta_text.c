// SPDX-License-Identifier: BSD-2-Clause
#include "view/meta_text.h"

#include "base/number.h"
#include "view/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEFT 14 /* columns, as in the summary */

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

/* The text of @write as one row; nothing if it is empty. */
static void meta_put_made(FILE *f, const char *title, void (*write)(FILE *f, const json_t *meta),
			  const json_t *meta, size_t width)
{
	char *text = NULL;
	size_t length;
	FILE *made = open_memstream(&text, &length);

	if (!made)
		return;
	write(made, meta);
	if (!fclose(made) && *text)
		meta_put_row(f, title, text, width);
	free(text);
}

void meta_words(FILE *f, const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v) {
		if (i)
			fputc(' ', f);
		if (json_is_string(v))
			fputs(json_string_value(v), f);
		else
			fprintf(f, "%lld", (long long)json_integer_value(v));
	}
}

static void meta_write_command(FILE *f, const json_t *meta)
{
	meta_words(f, json_object_get(meta, "command"));
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
		meta_words(f, json_object_get(to, "pids"));
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

static void meta_write_start(FILE *f, const json_t *meta)
{
	const char *user = meta_string(meta, "user"), *host = meta_string(meta, "host");
	double started = json_number_value(json_object_get(meta, "start_time"));
	time_t at = (time_t)number_clamp(floor(started));
	char when[64];
	struct tm tm;

	if (at && localtime_r(&at, &tm) && strftime(when, sizeof(when), "%F %T", &tm))
		fprintf(f, "%s", when);
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

	if (name)
		meta_put_row(f, "name", name, width);
	if (job)
		meta_put_row(f, "job", job, width);
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		meta_put_made(f, made[i].title, made[i].write, meta, width);
}
