// SPDX-License-Identifier: BSD-2-Clause
#include "store/query.h"

#include "store/database.h"
#include "store/identity.h"
#include "store/row_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ?1 to ?11 as bound by filter_bind(). */
static const char where_wanted[] =
	" FROM run WHERE (?1 = 0 OR id = ?1)"
	" AND (?2 IS NULL OR substr(uuid, 1, length(?2)) = ?2)"
	" AND (?3 IS NULL OR name GLOB ?3) AND (?4 IS NULL OR host GLOB ?4)"
	" AND (?5 IS NULL OR job GLOB ?5) AND (?6 IS NULL OR user = ?6)"
	" AND (?7 IS NULL OR instr(command, ?7)) AND start_time_ns >= ?8"
	" AND (?9 IS NULL OR name = ?9) AND (?11 IS NULL OR uid = ?11)";
/* The names alone are read, which are an index of their own. */
static const char where_has_span[] =
	" AND (?10 IS NULL OR EXISTS"
	" (SELECT 1 FROM span WHERE span.run = run.id AND span.name GLOB ?10))";

static int filter_bind_text(sqlite3_stmt *s, int at, const char *text)
{
	return sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

/*
 * Of a pattern only * and ? stand for anything, as the manual has it; GLOB would take brackets
 * for a set of characters, and a name as "job[1]" would not even find itself.
 */
static int filter_bind_pattern(sqlite3_stmt *s, int at, const char *text)
{
	char *pattern, *to;

	if (!text)
		return SQLITE_OK; /* it is NULL */
	pattern = malloc(3 * strlen(text) + 1);
	if (!pattern)
		return SQLITE_NOMEM;
	for (to = pattern; *text; text++) {
		if (*text == '[')
			*to++ = '[';
		*to++ = *text;
		if (*text == '[')
			*to++ = ']';
	}
	*to = '\0';
	return sqlite3_bind_text(s, at, pattern, -1, free);
}

/* A parameter that could not be bound would be NULL, and let every run pass. */
static int filter_bind(sqlite3_stmt *s, const struct run_filter *f)
{
	const int results[] = {
		sqlite3_bind_int64(s, 1, f->id),
		filter_bind_text(s, 2, f->uuid),
		filter_bind_pattern(s, 3, f->name),
		filter_bind_pattern(s, 4, f->host),
		filter_bind_pattern(s, 5, f->job),
		filter_bind_text(s, 6, f->user),
		filter_bind_text(s, 7, f->command),
		sqlite3_bind_int64(s, 8, (int64_t)f->since_ns),
		filter_bind_text(s, 9, f->exact_name),
		filter_bind_pattern(s, 10, f->span),
		f->is_of_uid ? sqlite3_bind_int64(s, 11, f->uid) : sqlite3_bind_null(s, 11),
	};

	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (results[i] != SQLITE_OK)
			return results[i];
	return SQLITE_OK;
}

static char *text_duplicate(struct row *r, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy && !r->err)
		r->err = database_error(r->d, SQLITE_NOMEM);
	return copy;
}

/* What it owns is the caller's, also after an error. */
static int stored_run_read(struct row *r, struct stored_run *run)
{
	struct run_row row = { 0 };

	row_read(r, &run_table, &row);
	*run = row.run;
	if (!r->err && row.needed_witness && row.needed_bound)
		needed_set_source(&run->needed, row.needed_witness, row.needed_bound);
	else
		run->needed = (struct memory_needed){ 0 };
	if (row.has_ended)
		run->state = RUN_FINISHED;
	else if (identity_goes_on(row.writer, row.seen_ns, row.interval_ns))
		run->state = RUN_RUNNING;
	else
		run->state = RUN_UNFINISHED;
	return r->err;
}

static int tag_write(struct row *r, FILE *f)
{
	const char *key = row_needed_text(r, 0), *value;

	if (r->err)
		return r->err;
	fputs(key, f);
	value = row_text(r, 1);
	fprintf(f, "=%s", value ? value : "");
	fputc('\0', f);
	return r->err;
}

static int stored_run_read_tags(struct database *d, sqlite3_stmt *tags, struct stored_run *run)
{
	struct row r = { .d = d, .s = tags, .table = "tag" };
	int rc = sqlite3_bind_int64(tags, 1, run->id), err = 0;
	bool is_short;
	size_t length;
	FILE *f = open_memstream(&run->tags, &length);

	if (!f)
		return database_error(d, SQLITE_NOMEM);
	while (rc == SQLITE_OK && !err && (rc = sqlite3_step(tags)) == SQLITE_ROW) {
		rc = SQLITE_OK;
		err = tag_write(&r, f);
	}
	if (!err)
		err = database_error(d, rc);
	sqlite3_reset(tags);
	fputc('\0', f);
	is_short = ferror(f);
	if ((fclose(f) || is_short) && !err)
		err = database_error(d, SQLITE_NOMEM);
	return err;
}

/* Whether each of the wanted tags is there: its key, or the whole of it. */
static bool stored_run_has_tags(const struct stored_run *r, const struct run_filter *f)
{
	for (size_t i = 0; i < f->nr_tags; i++) {
		const char *wanted = f->tags[i];
		size_t n = strlen(wanted);
		bool has = false;

		for (const char *t = r->tags; *t; t += strlen(t) + 1)
			has |= !strncmp(t, wanted, n) &&
			       (!t[n] || (t[n] == '=' && !strchr(wanted, '=')));
		if (!has)
			return false;
	}
	return true;
}

static int runs_prepare(struct database *d, sqlite3_stmt **runs)
{
	sqlite3_str *text = sqlite3_str_new(d->db);
	char *sql;
	int rc;

	sqlite3_str_appendall(text, "SELECT ");
	table_put_names(text, &run_table);
	sqlite3_str_appendall(text, where_wanted);
	sqlite3_str_appendall(text, where_has_span);
	sqlite3_str_appendall(text, " ORDER BY id DESC");
	sql = sqlite3_str_finish(text);
	rc = sql ? sqlite3_prepare_v2(d->db, sql, -1, runs, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return rc;
}

static int list_prepare(struct database *d, const struct run_filter *f, sqlite3_stmt **runs,
			sqlite3_stmt **tags)
{
	int rc = runs_prepare(d, runs);

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(d->db,
					"SELECT key, value FROM tag WHERE run=? ORDER BY key", -1,
					tags, NULL);
	if (rc == SQLITE_OK)
		rc = filter_bind(*runs, f);
	return database_error(d, rc);
}

/* Only one that is stalled keeps the state. */
static int stored_run_read_stall(struct database *d, struct stored_run *run)
{
	struct stall_state stall = { 0 };
	int64_t last = INT64_MIN;
	int err = query_stall(d, run->id, &last, &stall);

	if (err || !stall.is_stalled)
		return err;
	run->stall = malloc(sizeof(stall));
	if (!run->stall)
		return database_error(d, SQLITE_NOMEM);
	*run->stall = stall;
	return 0;
}

/* The row at which the statement is, if it passes. */
static int stored_run_append(struct row *row, sqlite3_stmt *tags, const struct run_filter *f,
			     size_t source, struct stored_runs *all)
{
	struct stored_run r;
	int err = stored_run_read(row, &r);
	bool is_kept = false;

	r.source = source;
	if (!err)
		err = stored_run_read_tags(row->d, tags, &r);
	if (!err && r.state == RUN_RUNNING)
		err = stored_run_read_stall(row->d, &r);
	if (!err && stored_run_is(&r, f->state) && stored_run_has_tags(&r, f)) {
		err = stored_runs_append(all, &r);
		is_kept = !err;
	}
	if (!is_kept)
		stored_run_done(&r);
	return err;
}

int query_runs(struct database *d, size_t source, const struct run_filter *f,
	       struct stored_runs *all)
{
	sqlite3_stmt *runs = NULL, *tags = NULL;
	int err = list_prepare(d, f, &runs, &tags), rc = SQLITE_DONE;
	struct row row = { .d = d, .s = runs, .table = "run" };
	int64_t last = INT64_MAX;

	while (!err && (rc = sqlite3_step(runs)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(runs, 0);

		if (id >= last && last != INT64_MAX) /* pages that lead back would never end */
			err = database_error(d, SQLITE_CORRUPT);
		else
			err = stored_run_append(&row, tags, f, source, all);
		last = id;
	}
	if (!err)
		err = database_error(d, rc);
	sqlite3_finalize(runs);
	sqlite3_finalize(tags);
	return err;
}

int query_text(struct database *d, int64_t id, struct run_text *t)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db,
				    "SELECT t.meta, t.summary, r.lines_lost FROM run_text AS t"
				    " JOIN run AS r ON r.id = t.run WHERE t.run=?",
				    -1, &s, NULL);
	struct row r = { .d = d, .s = s, .table = "run_text" };

	*t = (struct run_text){ 0 };
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, id);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		t->meta = text_duplicate(&r, row_needed_text(&r, 0));
		t->summary = text_duplicate(&r, row_text(&r, 1));
		t->lines_lost = (int64_t)row_count(&r, 2);
	}
	sqlite3_finalize(s);
	if (r.err)
		run_text_done(t);
	return r.err ? r.err : rc == SQLITE_DONE ? -ENOENT : database_error(d, rc);
}

void run_text_done(struct run_text *t)
{
	free(t->meta);
	free(t->summary);
	*t = (struct run_text){ 0 };
}
