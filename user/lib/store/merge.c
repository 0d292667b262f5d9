// SPDX-License-Identifier: BSD-2-Clause
#include "store/merge.h"

#include "base/memory.h"
#include "base/progress.h"
#include "store/database.h"
#include "store/database_open.h"
#include "store/identity.h"
#include "store/query.h"
#include "store/remove.h"
#include "store/schema.h"
#include "store/table_column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum merge_case case_choose(sqlite3_stmt *s, const struct merge_other *o)
{
	enum merge_case known =
		o->edited_ns > sqlite3_column_int64(s, 6) ? MERGE_WORDS : MERGE_KNOWN;

	if (sqlite3_column_int(s, 1))
		return known;
	if (identity_is_alive((const char *)sqlite3_column_text(s, 3),
			      (uint64_t)sqlite3_column_int64(s, 4),
			      (uint64_t)sqlite3_column_int64(s, 5)))
		return MERGE_BUSY;
	return o->has_ended || o->wall_ns > sqlite3_column_int64(s, 2) ? MERGE_RENEW : known;
}

int merge_decide(struct database *d, const struct merge_other *o, struct merge_decision *what)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(
		d->db,
		"SELECT id, ended, ifnull(wall_ns, 0), writer, seen_time_ns, interval_ns,"
		" ifnull(edited_time_ns, 0) FROM run WHERE uuid=?",
		-1, &s, NULL);

	*what = (struct merge_decision){ .what = MERGE_ADD };
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, o->uuid, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		what->id = sqlite3_column_int64(s, 0);
		what->what = case_choose(s, o);
		what->keeps_words = sqlite3_column_int64(s, 6) > o->edited_ns;
	}
	sqlite3_finalize(s);
	return database_error(d, rc);
}

void merge_count(struct merged *m, enum merge_case what)
{
	m->added += what == MERGE_ADD;
	m->renewed += what == MERGE_RENEW;
	m->known += what == MERGE_KNOWN || what == MERGE_WORDS;
	m->edited += what == MERGE_WORDS;
	m->busy += what == MERGE_BUSY;
}

static int merge_prepare(struct database *d, const char *sql, sqlite3_stmt **s)
{
	return database_error(d, sqlite3_prepare_v2(d->db, sql, -1, s, NULL));
}

/*
 * Lists the columns that both files have, except @key. The caller frees *@list by sqlite3_free().
 * Returns an SQLite status.
 */
static int columns_find_common(struct database *d, const char *table, const char *key, char **list)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db,
				    "SELECT name FROM pragma_table_info(?1, 'main') INTERSECT"
				    " SELECT name FROM pragma_table_info(?1, 'other')",
				    -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);

		rc = name ? SQLITE_OK : SQLITE_NOMEM;
		if (name && strcmp(name, key) != 0)
			sqlite3_str_appendf(text, ", \"%w\"", name);
	}
	sqlite3_finalize(s);
	if (rc == SQLITE_DONE)
		rc = sqlite3_str_errcode(text);
	*list = sqlite3_str_finish(text);
	return rc;
}

struct run_merge {
	int64_t from, to; /* its numbers there and here */
	char *uuid;       /* owned */
	struct merge_other other;
	enum merge_case what;
	merge_words_fn take_words;
};

/* Copies the rows of a run that match @range. Its number is in the column @key. */
static int rows_copy(struct database *d, const struct run_merge *r, const char *table,
		     const char *key, const char *range)
{
	char *columns, number[32] = "NULL";
	int err = database_error(d, columns_find_common(d, table, key, &columns));

	if (r->to)
		sqlite3_snprintf(sizeof(number), number, "%lld", (long long)r->to);
	if (!err)
		err = database_runf(d,
				    "INSERT INTO main.%s(%s%s) SELECT %s%s FROM other.%s"
				    " WHERE %s=%lld%s",
				    table, key, columns, number, columns, table, key,
				    (long long)r->from, range);
	sqlite3_free(columns);
	return err;
}

/*
 * Copies a table in portions. Copies nothing more if the run is removed meanwhile, which
 * end_merge() detects.
 */
static int portions_copy(struct database *d, const struct run_merge *r, const struct run_table *t)
{
	struct portion p = { .after = INT64_MIN };
	char range[300];
	int err = 0;

	for (; !err && !p.is_last; p.after = p.upto) {
		err = portion_next(d, "other", t, r->from, &p);
		if (err)
			break;
		sqlite3_snprintf(sizeof(range), range,
				 " AND %s>%lld AND (%d OR %s<=%lld)"
				 " AND EXISTS (SELECT 1 FROM main.run WHERE id=%lld)",
				 t->key, (long long)p.after, p.is_last, t->key, (long long)p.upto,
				 (long long)r->to);
		err = rows_copy(d, r, t->name, "run", range);
	}
	return err;
}

/* Marks the run as unfinished, and recorded by this process, until the copy is complete. */
static int run_mark_unfinished(struct database *d, const struct run_merge *r)
{
	char self[IDENTITY_BYTES];

	identity_self(self);
	return database_runf(d,
			     "UPDATE main.run SET ended=0, wall_ns=NULL, writer=%Q WHERE id=%lld",
			     self, (long long)r->to);
}

/* Copies the row of the run and the small tables, marked as unfinished. */
static int head_copy(struct database *d, struct run_merge *r)
{
	const struct run_table *t;
	int err = rows_copy(d, r, "run", "id", "");

	if (!r->to)
		r->to = sqlite3_last_insert_rowid(d->db);
	for (size_t i = 0; !err && (t = run_table_at(i)); i++)
		if (!t->key)
			err = rows_copy(d, r, t->name, "run", "");
	return err ? err : run_mark_unfinished(d, r);
}

static int words_merge(struct database *d, const struct run_merge *r)
{
	sqlite3_stmt *s = NULL;
	int err = merge_prepare(d, "SELECT meta FROM other.run_text WHERE run=?", &s), rc;

	if (err)
		return err;
	rc = sqlite3_bind_int64(s, 1, r->from);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	err = database_error(d, rc);
	if (rc == SQLITE_ROW) {
		struct row row = { .d = d, .s = s, .table = "run_text" };
		const char *meta = row_needed_text(&row, 0);

		err = meta ? r->take_words(d, r->to, meta) : row.err;
	}
	sqlite3_finalize(s);
	return err;
}

/* Replaces the row and the small tables by the other store's; a later edit here is kept. */
static int head_renew(struct database *d, struct run_merge *r, bool keeps_words)
{
	struct run_text own = { 0 };
	int err = keeps_words ? query_text(d, r->to, &own) : 0;

	if (!err)
		err = remove_head(d, r->to);
	if (!err)
		err = head_copy(d, r);
	if (!err && keeps_words)
		err = r->take_words(d, r->to, own.meta);
	run_text_done(&own);
	return err;
}

/* Decides what to do with the run, and does what fits into one transaction. */
static int head_merge(struct database *d, void *context)
{
	struct run_merge *r = context;
	struct merge_decision what;
	int err = merge_decide(d, &r->other, &what);

	if (err)
		return err;
	r->what = what.what;
	r->to = what.id;
	switch (r->what) {
	case MERGE_ADD:
		return head_copy(d, r);
	case MERGE_RENEW:
		return head_renew(d, r, what.keeps_words);
	case MERGE_WORDS:
		return words_merge(d, r);
	default:
		return 0;
	}
}

/* Marks the copy as complete, with the state that the decision was made on. */
static int end_merge(struct database *d, const struct run_merge *r)
{
	int err = database_runf(d,
				"UPDATE main.run SET ended=%d, wall_ns=(SELECT o.wall_ns FROM"
				" other.run AS o WHERE o.id=%lld), writer=(SELECT o.writer"
				" FROM other.run AS o WHERE o.id=%lld) WHERE id=%lld",
				r->other.has_ended, (long long)r->from, (long long)r->from,
				(long long)r->to);

	return err ? err : database_check_update(d);
}

static int run_merge_one(struct database *d, struct run_merge *r, struct merged *m)
{
	const struct run_table *t;
	int err = database_transact(d, head_merge, r);

	if (!err && r->what == MERGE_RENEW)
		err = remove_rows(d, r->to);
	if (!err && (r->what == MERGE_ADD || r->what == MERGE_RENEW)) {
		for (size_t i = 0; !err && (t = run_table_at(i)); i++)
			if (t->key)
				err = portions_copy(d, r, t);
		if (!err)
			err = end_merge(d, r);
	}
	if (!err)
		merge_count(m, r->what);
	return err;
}

/* Reads the run after @id in the other store. *@is_end is set if there is none. */
static int run_find_next(struct database *d, int64_t id, struct run_merge *r, bool *is_end)
{
	sqlite3_stmt *s = NULL;
	int err = merge_prepare(d,
				"SELECT id, uuid, ended, wall_ns, edited_time_ns FROM other.run"
				" WHERE id>? ORDER BY id LIMIT 1",
				&s);
	int rc;

	if (err)
		return err;
	rc = sqlite3_bind_int64(s, 1, id);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		struct row row = { .d = d, .s = s, .table = "run" };
		const char *uuid = row_needed_text(&row, 1);

		free(r->uuid);
		r->from = sqlite3_column_int64(s, 0);
		r->uuid = uuid ? memory_strdup(uuid) : NULL;
		r->other = (struct merge_other){ .uuid = r->uuid,
						 .has_ended = row_int(&row, 2),
						 .wall_ns = (int64_t)row_count(&row, 3),
						 .edited_ns = (int64_t)row_count(&row, 4) };
		err = uuid && !r->uuid ? database_error(d, SQLITE_NOMEM) : row.err;
	}
	*is_end = rc == SQLITE_DONE;
	sqlite3_finalize(s);
	return err ? err : database_error(d, rc);
}

int merge_store(struct database *d, const char *path, bool is_unchanging, merge_words_fn take_words,
		struct merged *m)
{
	struct run_merge r = { .take_words = take_words };
	bool is_end = false;
	int err = database_attach(d, path, is_unchanging);

	if (err)
		return err;
	defence_bound(d, path, sqlite3_db_filename(d->db, "main"));
	while (!err && !(err = run_find_next(d, r.from, &r, &is_end)) && !is_end)
		if (!(err = run_merge_one(d, &r, m)))
			progress_add(1);
	free(r.uuid);
	defence_lift_bound(d);
	sqlite3_exec(d->db, "DETACH other", NULL, NULL,
		     NULL); /* not database_run(), which would replace d->why */
	return err;
}
