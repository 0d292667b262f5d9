// SPDX-License-Identifier: BSD-2-Clause
/* A run in the store. */
#include "store/stored.h"

#include "base/cleanup.h"
#include "store/database.h"
#include "store/database_open.h"
#include "store/query.h"
#include "store/rows.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int stored_give_line(struct source *s, unsigned parts, unsigned may_be, const char *text)
{
	const struct stored *from = s->from;
	int err = line_read(&s->line, text, strlen(text));

	if (err == -ENOMEM)
		return err;
	if (err || !(may_be & PART(s->line.kind))) {
		s->unreadable++;
		return 0;
	}
	return parts & PART(s->line.kind) ? from->fn(from->context, &s->line) : 0;
}

/* Without it there is no run. */
static int meta_give(struct source *s, unsigned parts, const char *text)
{
	struct stored *from = s->from;
	int err = stored_give_line(s, parts, PART(LINE_META), text);

	if (!err && s->unreadable)
		return database_damaged(&from->d, "the text of its run %lld is not its meta line",
					(long long)from->id);
	return err;
}

int stored_give_row(struct source *s, enum line_kind kind)
{
	const struct stored *from = s->from;

	json_decref(s->line.tree); /* of the line before */
	s->line.tree = NULL;
	s->line.kind = kind;
	return from->fn(from->context, &s->line);
}

/* What no text has: lines that did not reach the store. */
static char *summary_with_losses(const char *summary, int64_t lines_lost)
{
	json_t *o = json_loads(summary, JSON_ALLOW_NUL, NULL);
	json_t *losses = json_object_get(o, "losses");
	char *text = NULL;

	if (json_is_object(losses) &&
	    !json_object_set_new(losses, "lines_not_stored", json_integer(lines_lost)) &&
	    !json_object_set_new(o, "complete", json_false()))
		text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}

static int summary_give(struct source *s, unsigned parts, const struct run_text *t)
{
	__cleanup(freep) char *text = NULL;

	if (!t->summary || !(parts & PART(LINE_SUMMARY)))
		return 0;
	if (t->lines_lost > 0)
		text = summary_with_losses(t->summary, t->lines_lost);
	return stored_give_line(s, parts, PART(LINE_SUMMARY), text ? text : t->summary);
}

static int process_give(struct source *s, sqlite3_stmt *rows, int64_t *last)
{
	struct stored *from = s->from;
	const char *args;
	json_t *list;
	int err = row_process(&from->d, rows, last, &s->line.process, &args);

	if (err)
		return err;
	list = args ? json_loads(args, JSON_ALLOW_NUL, NULL) : NULL;
	err = list ? line_set_args(&s->line, list) : 0;
	json_decref(list);
	return err ? err : stored_give_row(s, LINE_PROCESS);
}

static int processes_give(struct source *s)
{
	struct stored *from = s->from;
	sqlite3_stmt *rows = NULL;
	int err = rows_of_processes(&from->d, from->id, &rows), rc = SQLITE_DONE;
	int64_t last = INT64_MIN;

	while (!err && (rc = sqlite3_step(rows)) == SQLITE_ROW)
		err = process_give(s, rows, &last);
	if (!err)
		err = database_error(&from->d, rc);
	sqlite3_finalize(rows);
	return err;
}

/* Behind what has a time: a line of a span has no place of its own. */
static int spans_give(struct source *s, unsigned parts)
{
	struct stored *from = s->from;
	sqlite3_stmt *rows;
	int64_t last = INT64_MIN;
	const char *line;
	int err = rows_of_spans(&from->d, from->id, &rows), rc = SQLITE_DONE;

	while (!err && rows && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
		err = row_span(&from->d, rows, &last, &line);
		if (!err)
			err = stored_give_line(s, parts, PART(LINE_SPAN), line);
	}
	if (!err)
		err = database_error(&from->d, rc);
	sqlite3_finalize(rows);
	return err;
}

static int stored_each(struct source *s, unsigned parts, source_fn fn, void *context)
{
	struct stored *from = s->from;
	struct run_text t = { 0 };
	int err = database_run(&from->d, "BEGIN"); /* one state of the store for all of it */

	if (err)
		return err;
	from->fn = fn;
	from->context = context;
	s->unreadable = 0;
	err = query_text(&from->d, from->id, &t);
	if (!err)
		err = meta_give(s, parts, t.meta);
	if (!err)
		err = stored_give_times(s, parts);
	if (!err && parts & PART(LINE_SPAN))
		err = spans_give(s, parts);
	if (!err && parts & PART(LINE_PROCESS))
		err = processes_give(s);
	if (!err)
		err = summary_give(s, parts, &t);
	run_text_done(&t);
	if (err < 0)
		snprintf(s->why, sizeof(s->why), "%s", from->d.why);
	database_run(&from->d, "COMMIT");
	return err;
}

static void stored_close(struct source *s)
{
	struct stored *from = s->from;

	database_close(&from->d);
	free(from);
}

static const struct source_ops rows = { .each = stored_each, .close = stored_close };

static void stored_turn(struct source *s, int64_t id, enum run_state state)
{
	struct stored *from = s->from;

	from->id = id;
	s->is_running = state == RUN_RUNNING;
	s->without_summary = state == RUN_RUNNING
				     ? "the run goes on, this is how far it has come"
				     : "the recorder was killed: the account ends there";
}

bool source_turn_stored(struct source *s, const char *path, int64_t id, enum run_state state)
{
	struct stored *from = s->from;

	if (s->ops != &rows || strcmp(from->path, path) != 0)
		return false;
	defence_bound(&from->d, path, NULL); /* of each run by itself */
	stored_turn(s, id, state);
	return true;
}

int source_open_stored(struct source *s, const char *path, int64_t id, enum run_state state)
{
	const size_t n = strlen(path) + 1;
	struct stored *from = calloc(1, sizeof(*from) + n);
	int err = from ? database_open(&from->d, path, DATABASE_READ) : -ENOMEM;

	*s = (struct source){ 0 };
	if (err) {
		snprintf(s->why, sizeof(s->why), "%s", from ? from->d.why : "");
		free(from);
		return err;
	}
	memcpy(from->path, path, n);
	s->from = from;
	s->ops = &rows;
	stored_turn(s, id, state);
	return 0;
}
