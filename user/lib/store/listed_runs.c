// SPDX-License-Identifier: BSD-2-Clause
#include "store/listed_runs.h"

#include "base/memory.h"
#include "run/reader.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *listed_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? strdup(text) : NULL;
}

/* -1: it is not known. */
static int64_t listed_number(const json_t *o, const char *key, unsigned decimals)
{
	uint64_t n;

	return value_read_number(json_object_get(o, key), decimals, &n) && n <= INT64_MAX
		       ? (int64_t)n
		       : -1;
}

static enum run_state listed_state(const json_t *o)
{
	const char *text = json_string_value(json_object_get(o, "state"));

	if (text && !strcmp(text, "running"))
		return RUN_RUNNING;
	return text && !strcmp(text, "finished") ? RUN_FINISHED : RUN_UNFINISHED;
}

static char *listed_tags(json_t *o)
{
	json_t *tags = json_object_get(o, "tags"), *v;
	const char *key;
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (!f)
		return NULL;
	json_object_foreach(tags, key, v) {
		fprintf(f, "%s=%s", key, json_is_string(v) ? json_string_value(v) : "");
		fputc('\0', f);
	}
	fputc('\0', f);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static void listed_needed(struct memory_needed *n, const json_t *o)
{
	const char *witness = json_string_value(json_object_get(o, "memory_needed_witness"));
	const char *bound = json_string_value(json_object_get(o, "memory_needed_bound"));

	if (member_read_bytes(o, "memory_needed_bytes", &n->bytes) && witness && bound)
		needed_set_source(n, witness, bound);
}

/* A text is that of an agent of an earlier release. */
static int64_t listed_id(const json_t *o)
{
	const json_t *id = json_object_get(o, "id");

	return json_is_string(id) ? strtoll(json_string_value(id), NULL, 10)
				  : json_integer_value(id);
}

static int listed_run_read(struct stored_run *r, json_t *o)
{
	*r = (struct stored_run){
		.id = listed_id(o),
		.uuid = listed_text(o, "run"),
		.name = listed_text(o, "name"),
		.job = listed_text(o, "job"),
		.command = listed_text(o, "command"),
		.user = listed_text(o, "user"),
		.host = listed_text(o, "host"),
		.note = listed_text(o, "note"),
		.tags = listed_tags(o),
		.start_epoch_ns = member_read_epoch(o, "start_time"),
		.state = listed_state(o),
		.is_complete = json_is_true(json_object_get(o, "complete")),
		.exit_code = listed_number(o, "exit_code", 0),
		.signal = listed_number(o, "signal", 0),
		.wall_ns = listed_number(o, "wall_seconds", 9),
		.cpu_ns = listed_number(o, "cpu_seconds", 9),
		.rss_peak_bytes = listed_number(o, "rss_peak_bytes", 0),
		.processes = listed_number(o, "processes_total", 0),
		.lines_lost = -1,
	};
	listed_needed(&r->needed, o);
	return r->id > 0 && r->uuid && r->tags ? 0 : -EBADMSG;
}

int listed_run_append(struct stored_runs *all, const char *text, size_t length)
{
	size_t failures = memory_failures_of_thread();
	json_t *o = json_loadb(text, length, 0, NULL);
	struct stored_run r = { 0 };
	int err = json_is_object(o) ? listed_run_read(&r, o) : -EBADMSG;

	json_decref(o);
	if (memory_failures_of_thread() > failures)
		err = -ENOMEM;
	if (!err)
		err = stored_runs_append(all, &r);
	if (err)
		stored_run_done(&r);
	return err;
}
