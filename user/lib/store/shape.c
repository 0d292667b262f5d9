// SPDX-License-Identifier: BSD-2-Clause
#include "store/shape.h"

#include "store/defence.h"
#include "store/schema.h"
#include "store/tables.h"

#include <string.h>

/*
 * SQLite goes by the text alone: what the columns `type` and `name` say may be a lie. A text that
 * begins so makes what it says, and a second table of a name would be an error.
 */
static const char select_others[] =
	"SELECT type, name FROM sqlite_master WHERE ("
	" (type='table' AND sql GLOB 'CREATE TABLE *')"
	" OR (type='index' AND (sql IS NULL OR sql GLOB 'CREATE INDEX *'"
	" OR sql GLOB 'CREATE UNIQUE INDEX *'))"
	" OR (type='view' AND sql GLOB 'CREATE VIEW *')) IS NOT TRUE LIMIT 1";
/*
 * Of the table ?1: whether it is there; has a condition, which an integrity check would evaluate,
 * however long that takes; or an index that has one or computes something.
 */
static const char select_table[] =
	"SELECT count(1), sum(upper(sql) GLOB '*[^A-Z0-9_]CHECK[^A-Z0-9_]*'),"
	" (SELECT count(1) FROM pragma_index_list(?1) AS i WHERE i.partial"
	" OR EXISTS (SELECT 1 FROM pragma_index_xinfo(i.name) WHERE cid=-2))"
	" FROM sqlite_master WHERE type='table' AND name=?1"
	" AND substr(sql, 1, 14 + length(?1))='CREATE TABLE ' || ?1 || '('";

/* The statements that are asked of each table: one of the file, columns of the model and of it. */
struct questions {
	sqlite3_stmt *table, *wanted, *found; /* owned */
};

static int shape_prepare(struct database *d, const char *sql, sqlite3_stmt **s)
{
	return database_error(d, sqlite3_prepare_v2(d->db, sql, -1, s, NULL));
}

static const char *shape_text_at(sqlite3_stmt *s, int at)
{
	const char *text = (const char *)sqlite3_column_text(s, at);

	return text ? text : "";
}

static int schema_refuse_others(struct database *d)
{
	sqlite3_stmt *s = NULL;
	int err = shape_prepare(d, select_others, &s), rc = SQLITE_DONE;

	if (!err) {
		rc = sqlite3_step(s);
		err = database_error(d, rc);
	}
	if (rc == SQLITE_ROW)
		err = database_damaged(d,
				       "its schema has the %.20s '%.60s', which bpfmon does not "
				       "make",
				       shape_text_at(s, 0), shape_text_at(s, 1));
	sqlite3_finalize(s);
	return err;
}

static int table_check(struct database *d, sqlite3_stmt *s, const char *table)
{
	int rc = sqlite3_step(s), err = database_error(d, rc);

	if (!err && sqlite3_column_int(s, 0) != 1)
		err = database_damaged(d, "the table %s is missing", table);
	else if (!err && (sqlite3_column_int(s, 1) || sqlite3_column_int(s, 2)))
		err = database_damaged(
			d,
			"the table %s has a condition, or an index that computes, which bpfmon "
			"does not make",
			table);
	return err;
}

/* Whether the file's column is the model's: its name, type, and place in the key. */
static bool column_is_same(sqlite3_stmt *wanted, sqlite3_stmt *found)
{
	return !strcmp(shape_text_at(wanted, 0), shape_text_at(found, 0)) &&
	       !strcmp(shape_text_at(wanted, 1), shape_text_at(found, 1)) &&
	       sqlite3_column_int(wanted, 2) == sqlite3_column_int(found, 2);
}

/* The columns of the model are there in their order; between and behind them those of metrics, and
 * what later schemas add behind these. */
static int columns_check(struct database *d, const struct questions *q, const char *table)
{
	int wanted = sqlite3_step(q->wanted), found = sqlite3_step(q->found);

	while (found == SQLITE_ROW) {
		if (sqlite3_column_int(q->found, 3))
			return database_damaged(d, "the column %.60s of the table %s is computed",
						shape_text_at(q->found, 0), table);
		if (wanted == SQLITE_ROW && column_is_same(q->wanted, q->found))
			wanted = sqlite3_step(q->wanted);
		found = sqlite3_step(q->found);
	}
	if (found != SQLITE_DONE)
		return database_error(d, found);
	if (wanted == SQLITE_ROW)
		return database_damaged(d, "the table %s lacks the column %s as bpfmon makes it",
					table, shape_text_at(q->wanted, 0));
	return database_error(d, wanted);
}

static int table_check_shape(struct database *d, const struct questions *q, const char *table)
{
	sqlite3_stmt *const all[] = { q->table, q->wanted, q->found };
	int rc = SQLITE_OK, err;

	for (size_t i = 0; rc == SQLITE_OK && i < sizeof(all) / sizeof(*all); i++)
		rc = sqlite3_bind_text(all[i], 1, table, -1, SQLITE_STATIC);
	err = database_error(d, rc);
	if (!err)
		err = table_check(d, q->table, table);
	if (!err)
		err = columns_check(d, q, table);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		sqlite3_reset(all[i]);
	return err;
}

static int tables_check_shape(struct database *d, sqlite3 *model, int64_t version)
{
	struct questions q = { 0 };
	const struct run_table *t;
	int err = shape_prepare(d, select_table, &q.table);

	if (!err)
		err = shape_prepare(d, "SELECT name, type, pk, hidden FROM pragma_table_xinfo(?1)",
				    &q.found);
	if (!err)
		err = database_error(d, sqlite3_prepare_v2(model,
							   "SELECT name, type, pk FROM"
							   " pragma_table_info(?1)",
							   -1, &q.wanted, NULL));
	if (!err)
		err = table_check_shape(d, &q, "run");
	for (size_t i = 0; !err && (t = run_table_at(i, version)); i++)
		err = table_check_shape(d, &q, t->name);
	sqlite3_finalize(q.table);
	sqlite3_finalize(q.wanted);
	sqlite3_finalize(q.found);
	return err;
}

int shape_make(sqlite3 **db, int64_t version)
{
	int rc = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	for (int i = 0; rc == SQLITE_OK && i < version; i++)
		rc = schema_step(*db, i);
	return rc;
}

int shape_check(struct database *d, int64_t version)
{
	sqlite3 *model = NULL;
	int err = schema_refuse_others(d);

	if (!err)
		err = database_error(d, shape_make(&model, version));
	if (!err)
		err = tables_check_shape(d, model, version);
	sqlite3_close(model);
	return err;
}
