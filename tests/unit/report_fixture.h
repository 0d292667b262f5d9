/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs as text, and what a report makes of them as JSON. */
#ifndef TESTS_UNIT_REPORT_FIXTURE_H
#define TESTS_UNIT_REPORT_FIXTURE_H

#include "page/page_run.h"

#include <stdlib.h>
#include <string.h>

#define META                                                                                       \
	"{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"start_time\":1000.5,\"command\":[\"a\"]}\n"
#define SAMPLE(at, rest) "{\"kind\":\"sample\",\"elapsed_seconds\":" #at "," rest "}\n"
#define SUMMARY "{\"kind\":\"summary\",\"complete\":true,\"wall_seconds\":2}\n"

/*
 * The result of report_read() for @text; the data in *@data, to be json_decref'ed; the parts of
 * their page in *@parts.
 */
static inline int report_text_parts(const char *text, size_t length, json_t **data, unsigned *parts)
{
	FILE *f = tmpfile();
	struct source source;
	struct page_data d = { 0 };
	static struct report_run r; /* too large for the stack */
	char path[40];
	int err;

	*data = NULL;
	if (!f || fwrite(text, 1, length, f) != length || fflush(f) || report_open(&r))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(f));
	if (source_open_file(&source, path))
		abort();
	err = report_read(&r, &source);
	if (!err) {
		if (report_write_data(&r, "run.jsonl", &d))
			abort();
		*data = json_loadb(d.json.text, d.json.used, JSON_ALLOW_NUL, NULL);
	}
	*parts = d.parts;
	jsonw_done(&d.json);
	report_close(&r);
	source_close(&source);
	fclose(f);
	return err;
}

static inline int report_text(const char *text, size_t length, json_t **data)
{
	unsigned parts;

	return report_text_parts(text, length, data, &parts);
}

/* The parts of the page of a run with a sample and @lines. */
static inline unsigned report_parts(const char *lines)
{
	char text[2000];
	json_t *data;
	unsigned parts;
	int n = snprintf(text, sizeof(text), "%s%s%s", META, SAMPLE(1, "\"rss_bytes\":4096"),
			 lines);

	if (report_text_parts(text, (size_t)n, &data, &parts) || !data)
		abort();
	json_decref(data);
	return parts;
}

/* The data of a run that can be read. */
static inline json_t *report_data(const char *text)
{
	json_t *data;

	if (report_text(text, strlen(text), &data) || !data)
		abort();
	return data;
}

static inline json_t *report_column(json_t *data, const char *chart, const char *key)
{
	json_t *c = json_object_get(json_object_get(data, "charts"), chart);

	return json_object_get(json_object_get(c, "columns"), key);
}

static inline json_t *report_processes_rows(json_t *data)
{
	return json_object_get(json_object_get(data, "processes"), "rows");
}

/* What process number @i has in the field @name. */
static inline json_t *report_field(json_t *data, size_t i, const char *name)
{
	json_t *all = json_object_get(data, "processes"), *field;
	size_t at;

	json_array_foreach(json_object_get(all, "fields"), at, field)
		if (!strcmp(json_string_value(field), name))
			return json_array_get(json_array_get(report_processes_rows(data), i), at);
	return NULL;
}

#endif
