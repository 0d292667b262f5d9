// SPDX-License-Identifier: BSD-2-Clause
#include "base/jansson_memory.h"
#include "base/memory.h"
#include "store/source.h"

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

/* A statement with its current row, for merging several statements by time. */
struct cursor {
	sqlite3_stmt *s; /* NULL: no rows were requested */
	bool is_row;
	uint64_t at_ns; /* time of the row */
	int64_t last;   /* number of the last event */
};

struct stored {
	struct database d;
	int64_t id;
	source_fn fn;
	void *context;
	struct cursor instances; /* those of the current samples */
	char path[];             /* as passed to database_open() */
};

/*
 * Parses a stored line and passes it to the callback if its kind is in @parts. Counts lines that
 * cannot be parsed or whose kind is not in @may_be as unreadable, as for a file. Returns -ENOMEM,
 * or the result of the callback.
 */
static int stored_emit_line(struct source *s, unsigned parts, unsigned may_be, const char *text)
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

/* Fails with -EUCLEAN if the meta line is unusable. */
static int meta_emit(struct source *s, unsigned parts, const char *text)
{
	struct stored *from = s->from;
	int err = stored_emit_line(s, parts, PART(LINE_META), text);

	if (!err && s->unreadable)
		return database_damaged(&from->d, "the meta line of its run %lld is invalid",
					(long long)from->id);
	return err;
}

/* Passes s->line, which was read from a row and has no tree, as a part of @kind. */
static int stored_emit_row(struct source *s, enum line_kind kind)
{
	const struct stored *from = s->from;

	json_decref(s->line.tree); /* tree of the previous line */
	s->line.tree = NULL;
	s->line.kind = kind;
	return from->fn(from->context, &s->line);
}

/*
 * Returns the summary with the number of lines that were not stored, which the recorded text lacks.
 */
static char *summary_with_losses(const char *summary, int64_t lines_lost)
{
	json_t *o = jansson_loads(summary, JSON_ALLOW_NUL, NULL);
	json_t *losses = json_object_get(o, "losses");
	char *text = NULL;

	if (json_is_object(losses) &&
	    !json_object_set_new(losses, "lines_not_stored", json_integer(lines_lost)) &&
	    !json_object_set_new(o, "complete", json_false()))
		text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}

static int summary_emit(struct source *s, unsigned parts, const struct run_text *t)
{
	__cleanup(freep) char *text = NULL;

	if (!t->summary || !(parts & PART(LINE_SUMMARY)))
		return 0;
	if (t->lines_lost > 0)
		text = summary_with_losses(t->summary, t->lines_lost);
	return stored_emit_line(s, parts, PART(LINE_SUMMARY), text ? text : t->summary);
}

static int stored_emit_process(struct source *s, sqlite3_stmt *rows, int64_t *last)
{
	struct stored *from = s->from;
	const char *args;
	json_t *list;
	int err = row_process(&from->d, rows, last, &s->line.process, &args);

	if (err)
		return err;
	list = args ? jansson_loads(args, JSON_ALLOW_NUL, NULL) : NULL;
	err = list ? line_set_args(&s->line, list) : 0;
	json_decref(list);
	return err ? err : stored_emit_row(s, LINE_PROCESS);
}

static int stored_emit_processes(struct source *s)
{
	struct stored *from = s->from;
	sqlite3_stmt *rows = NULL;
	int err = rows_of_processes(&from->d, from->id, &rows), rc = SQLITE_DONE;
	int64_t last = INT64_MIN;

	while (!err && (rc = sqlite3_step(rows)) == SQLITE_ROW)
		err = stored_emit_process(s, rows, &last);
	if (!err)
		err = database_error(&from->d, rc);
	sqlite3_finalize(rows);
	return err;
}

/* Spans are passed after all parts that have a time: they have no place in that order. */
static int spans_emit(struct source *s, unsigned parts)
{
	struct stored *from = s->from;
	sqlite3_stmt *rows;
	int64_t last = INT64_MIN;
	const char *line;
	int err = rows_of_spans(&from->d, from->id, &rows), rc = SQLITE_DONE;

	while (!err && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
		err = row_span(&from->d, rows, &last, &line);
		if (!err)
			err = stored_emit_line(s, parts, PART(LINE_SPAN), line);
	}
	if (!err)
		err = database_error(&from->d, rc);
	sqlite3_finalize(rows);
	return err;
}

/* The kinds of lines that the table of events holds verbatim. */
static const unsigned parts_events =
	~(PART(LINE_META) | PART(LINE_SAMPLE) | PART(LINE_PROCESS) | PART(LINE_PROCESS_SAMPLE) |
	  PART(LINE_SPAN) | PART(LINE_SUMMARY));

/* Parts in the order of time; at equal times in this order. */
enum timed { SAMPLES, PROCESS_SAMPLES, EVENTS, NR_TIMED };

/*
 * Steps the cursor. Checks that times do not decrease, because a cycle of pages would never end;
 * row_event() checks events.
 */
static int cursor_step(struct database *d, struct cursor *c, bool is_ordered)
{
	uint64_t before_ns = c->at_ns;
	int rc = c->s ? sqlite3_step(c->s) : SQLITE_DONE;

	c->is_row = rc == SQLITE_ROW;
	rc = c->is_row ? row_time(d, c->s, &c->at_ns) : database_error(d, rc);
	if (!rc && c->is_row && is_ordered && c->at_ns < before_ns)
		rc = database_damaged(d, "the samples of a run are out of order");
	return rc;
}

/* Returns the cursor with the earliest row; NR_TIMED if all are at their end. */
static int cursor_find_next(const struct cursor *all)
{
	int next = NR_TIMED;

	for (int i = 0; i < NR_TIMED; i++)
		if (all[i].is_row && (next == NR_TIMED || all[i].at_ns < all[next].at_ns))
			next = i;
	return next;
}

/* Adds the instances of the sample. Both statements are in the order of time. */
static int instances_take(struct stored *from, struct sample *smp)
{
	struct cursor *c = &from->instances;
	int err = 0;

	while (!err && c->is_row && c->at_ns <= smp->elapsed_ns) {
		if (c->at_ns == smp->elapsed_ns)
			err = row_instance(&from->d, c->s, smp);
		if (!err)
			err = cursor_step(&from->d, c, true);
	}
	return err;
}

static int timed_emit(struct source *s, unsigned parts, int which, struct cursor *c)
{
	struct stored *from = s->from;
	const char *line;
	int err;

	switch (which) {
	case EVENTS:
		err = row_event(&from->d, c->s, &c->last, &line);
		return err ? err : stored_emit_line(s, parts, parts_events, line);
	case SAMPLES:
		err = row_sample(&from->d, s->only, c->s, &s->line.sample);
		if (!err)
			err = instances_take(from, &s->line.sample);
		return err ? err : stored_emit_row(s, LINE_SAMPLE);
	default:
		err = row_process_sample(&from->d, c->s, &s->line.process_sample);
		return err ? err : stored_emit_row(s, LINE_PROCESS_SAMPLE);
	}
}

/* Passes samples, process samples and events in the order of time. */
static int times_emit(struct source *s, unsigned parts, struct cursor *all)
{
	struct stored *from = s->from;
	int err = 0, next;

	for (int i = 0; !err && i < NR_TIMED; i++)
		err = cursor_step(&from->d, &all[i], i != EVENTS);
	while (!err && (next = cursor_find_next(all)) != NR_TIMED) {
		err = timed_emit(s, parts, next, &all[next]);
		if (!err)
			err = cursor_step(&from->d, &all[next], next != EVENTS);
	}
	return err;
}

static int stored_select_samples(struct source *s, sqlite3_stmt **rows)
{
	struct stored *from = s->from;

	if (s->samples_to_ns)
		return rows_of_samples_between(&from->d, from->id, s->only, s->samples_from_ns,
					       s->samples_to_ns, rows);
	return (s->is_coarse ? rows_of_blocks : rows_of_samples)(&from->d, from->id, s->only, rows);
}

/*
 * Prepares statements for the requested @parts and passes their rows in the order of time. Errors
 * as source_each().
 */
static int stored_emit_times(struct source *s, unsigned parts)
{
	struct stored *from = s->from;
	struct cursor all[NR_TIMED] = { [EVENTS].last = INT64_MIN };
	int err = 0;

	if (parts & PART(LINE_SAMPLE))
		err = stored_select_samples(s, &all[SAMPLES].s);
	from->instances = (struct cursor){ 0 };
	if (!err && parts & PART(LINE_SAMPLE) && !s->is_coarse && !s->samples_to_ns)
		err = rows_of_instances(&from->d, from->id, &from->instances.s);
	if (!err)
		err = cursor_step(&from->d, &from->instances, true);
	if (!err && parts & PART(LINE_PROCESS_SAMPLE))
		err = rows_of_process_samples(&from->d, from->id, s->from_ns,
					      s->to_ns ? s->to_ns : UINT64_MAX,
					      &all[PROCESS_SAMPLES].s);
	if (!err && parts & parts_events)
		err = rows_of_events(&from->d, from->id, &all[EVENTS].s);
	if (!err)
		err = times_emit(s, parts, all);
	for (int i = 0; i < NR_TIMED; i++)
		sqlite3_finalize(all[i].s);
	sqlite3_finalize(from->instances.s);
	return err;
}

static int stored_each(struct source *s, unsigned parts, source_fn fn, void *context)
{
	struct stored *from = s->from;
	struct run_text t = { 0 };
	int err = database_run(&from->d, "BEGIN"); /* all reads see one state of the store */

	if (err)
		return err;
	from->fn = fn;
	from->context = context;
	s->unreadable = 0;
	err = query_text(&from->d, from->id, &t);
	if (!err)
		err = meta_emit(s, parts, t.meta);
	if (!err)
		err = stored_emit_times(s, parts);
	if (!err && parts & PART(LINE_SPAN))
		err = spans_emit(s, parts);
	if (!err && parts & PART(LINE_PROCESS))
		err = stored_emit_processes(s);
	if (!err)
		err = summary_emit(s, parts, &t);
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

static void stored_select_run(struct source *s, int64_t id, enum run_state state)
{
	struct stored *from = s->from;

	from->id = id;
	s->is_running = state == RUN_RUNNING;
	s->without_summary = state == RUN_RUNNING
				     ? "the run is still going on; this is the state so far"
				     : "the recorder was killed: the recorded data ends there";
}

bool source_switch_stored(struct source *s, const char *path, int64_t id, enum run_state state)
{
	struct stored *from = s->from;

	if (s->ops != &rows || strcmp(from->path, path) != 0)
		return false;
	defence_bound(&from->d, path, NULL); /* a new budget for each run */
	stored_select_run(s, id, state);
	return true;
}

int source_open_stored(struct source *s, const char *path, int64_t id, enum run_state state)
{
	const size_t n = strlen(path) + 1;
	struct stored *from = memory_calloc(1, sizeof(*from) + n);
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
	stored_select_run(s, id, state);
	return 0;
}
