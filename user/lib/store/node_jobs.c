// SPDX-License-Identifier: BSD-2-Clause
#include "store/node_jobs.h"

#include "base/buffer.h"
#include "base/cgroup.h"
#include "base/memory.h"
#include "run/reader.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct node_job_row *row_find(struct node_job_rows *rows, const char *run)
{
	for (size_t i = rows->nr; run && i-- > 0;)
		if (!strcmp(rows->all[i].run, run))
			return &rows->all[i];
	return NULL;
}

static void row_free_texts(struct node_job_row *row)
{
	char **all[] = { &row->run,    &row->id,          &row->name, &row->user,
			 &row->cgroup, &row->live_socket, &row->title };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		free(*all[i]);
		*all[i] = NULL;
	}
}

static void row_remove(struct node_job_rows *rows, struct node_job_row *row)
{
	row_free_texts(row);
	*row = rows->all[--rows->nr];
}

static struct node_job_row *row_append(struct node_job_rows *rows)
{
	size_t room = rows->room ? rows->room * 2 : 64;
	struct node_job_row *all = rows->all;

	if (rows->nr == rows->room) {
		all = memory_reallocarray(all, room, sizeof(*all));
		if (!all)
			return NULL;
		rows->all = all;
		rows->room = room;
	}
	all[rows->nr] = (struct node_job_row){ 0 };
	return &all[rows->nr++];
}

/* Returns a copy of a string; NULL if it is absent, or without memory (*@err). */
static char *member_copy(const json_t *o, const char *key, int *err)
{
	const char *text = json_string_value(json_object_get(o, key));
	char *copy = text ? memory_strdup(text) : NULL;

	if (text && !copy)
		*err = -ENOMEM;
	return copy;
}

static int meta_take(struct node_job_rows *rows, const struct line *l)
{
	const json_t *o = l->tree, *job = json_object_get(o, "node_job"),
		     *limits = json_object_get(o, "limits");
	struct node_job_row *row = row_find(rows, json_string_value(json_object_get(o, "run")));
	int err = 0;

	if (!job)
		return -EBADMSG;
	if (row) /* a later meta line of the job */
		row_free_texts(row);
	else
		row = row_append(rows);
	if (!row)
		return -ENOMEM;
	row->run = member_copy(o, "run", &err);
	row->id = member_copy(job, "id", &err);
	row->name = member_copy(job, "name", &err);
	if (row->name && !json_equal(json_object_get(o, "name"), json_object_get(job, "name")))
		row->title = member_copy(o, "name", &err);
	row->user = member_copy(job, "user", &err);
	row->cgroup = member_copy(job, "cgroup", &err);
	row->live_socket = member_copy(o, "live_socket", &err);
	row->start_epoch_ns = l->start_epoch_ns;
	row->memory_max_bytes = member_read_number(limits, "memory_max_bytes", 0);
	row->cpu_max_milli = member_read_number(limits, "cpu_max_cores", 3);
	row->cpu_request_milli = member_read_number(job, "cpu_request_cores", 3);
	if (!err && (!row->run || !row->id || !row->name))
		err = -EBADMSG;
	if (err)
		row_remove(rows, row);
	return err;
}

/* Returns the notices as lines; NULL if there are none, or without memory (*@err). */
static char *notices_take(const json_t *agent, int *err)
{
	const json_t *all = json_object_get(agent, "notices"), *one;
	struct buffer text = { 0 };
	size_t i;

	json_array_foreach(all, i, one) {
		if (!json_is_string(one))
			continue;
		buffer_puts(&text, "note: ");
		buffer_put_printable(&text, json_string_value(one), json_string_length(one));
		buffer_puts(&text, "\n");
	}
	if (!text.used && !text.failed)
		return NULL;
	buffer_put(&text, "", 1);
	if (!text.failed)
		return text.text;
	buffer_done(&text);
	*err = -ENOMEM;
	return NULL;
}

static int node_line_take(struct node_job_rows *rows, struct line *l, bool *is_last)
{
	const json_t *o = l->tree;
	const char *kind = json_string_value(json_object_get(o, "kind"));
	struct node_job_row *row;
	int err = 0;

	*is_last = kind && !strcmp(kind, "agent");
	rows->has_history |= *is_last && json_object_get(o, "history");
	if (*is_last) {
		free(rows->notices);
		rows->notices = notices_take(o, &err);
		return err;
	}
	if (l->kind == LINE_META)
		return meta_take(rows, l);
	row = row_find(rows, json_string_value(json_object_get(o, "run")));
	if (row && l->kind == LINE_EVENT)
		stall_state_update(&row->stall, o);
	if (row && l->kind == LINE_SUMMARY) {
		row_remove(rows, row);
		return 0;
	}
	if (!row || l->kind != LINE_SAMPLE)
		return 0;
	memcpy(row->value, l->sample.value, sizeof(row->value));
	row->have = l->sample.have;
	return 0;
}

static int node_text_take(struct node_job_rows *rows, const char *text, size_t length,
			  enum line_kind *kind, bool *is_last)
{
	struct line *l = memory_calloc(1, sizeof(*l)); /* too large for the stack */
	int err = l ? line_read(l, text, length) : -ENOMEM;

	if (!err)
		err = node_line_take(rows, l, is_last);
	if (!err)
		*kind = l->kind;
	if (l)
		line_done(l);
	free(l);
	return err;
}

int node_jobs_take(struct node_job_rows *rows, const char *text, size_t length, bool *is_last)
{
	enum line_kind kind;

	return node_text_take(rows, text, length, &kind, is_last);
}

int node_jobs_read(struct node_job_rows *rows, FILE *f,
		   void (*each)(enum line_kind kind, const char *line, size_t length))
{
	enum line_kind kind = LINE_OTHER;
	bool is_last = false;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int err = 0;

	while (!err && !is_last && (n = memory_getline(&line, &room, f)) > 0) {
		err = node_text_take(rows, line, (size_t)n, &kind, &is_last);
		if (!err && each)
			each(kind, line, (size_t)n);
	}
	free(line);
	return err || is_last ? err : -ECONNRESET;
}

void node_jobs_done(struct node_job_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		row_free_texts(&rows->all[i]);
	free(rows->all);
	free(rows->notices);
	*rows = (struct node_job_rows){ 0 };
}

void job_match_cgroup(const struct node_job_rows *jobs, const char *path,
		      const struct node_job_row **best)
{
	for (size_t i = 0; i < jobs->nr; i++) {
		const struct node_job_row *job = &jobs->all[i];

		if (job->cgroup && cgroup_path_below(path, job->cgroup) &&
		    (!*best || strlen(job->cgroup) > strlen((*best)->cgroup)))
			*best = job;
	}
}

int job_match_process(const struct node_job_rows *jobs, pid_t pid, const struct node_job_row **best)
{
	char path[64], *line = NULL;
	size_t room = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	f = memory_fopen(path, "re");
	if (!f)
		return -errno;
	while ((n = memory_getline(&line, &room, f)) > 0) {
		char *cgroup = strchr(line, ':');

		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		cgroup = cgroup ? strchr(cgroup + 1, ':') : NULL;
		if (cgroup)
			job_match_cgroup(jobs, cgroup + 1, best);
	}
	free(line);
	fclose(f);
	return 0;
}
