// SPDX-License-Identifier: BSD-2-Clause
#include "store/database.h"

#include "store/remove.h"
#include "store/row_table.h"
#include "store/schema.h"

#include <errno.h>
#include <string.h>

struct rule {
	int64_t least, most;
	bool is_needed; /* not NULL, although the schema permits it */
};

/*
 * Returns the rule of a column. Columns that row_table.c does not describe (metrics) hold an
 * amount.
 */
static struct rule column_rule(const char *table, const char *name)
{
	const struct table_column *c = table_column_find(table, name);
	struct rule r = { .most = INT64_MAX };

	if (c) {
		column_range(c, &r.least, &r.most);
		r.is_needed = c->is_key || c->is_needed;
	} else if (!strcmp(name, "run")) {
		r = (struct rule){ INT64_MIN, INT64_MAX, true };
	}
	return r;
}

/* Appends a WHEN that matches an invalid value, and results in the column's name. */
static void case_put(sqlite3_str *sql, const char *table, const char *column, bool is_text,
		     bool is_needed)
{
	const struct rule r = column_rule(table, column);
	const char *type = is_text ? "text" : "integer";

	sqlite3_str_appendf(sql, " WHEN ");
	if (!is_needed && !r.is_needed)
		sqlite3_str_appendf(sql, "\"%w\" IS NOT NULL AND ", column);
	sqlite3_str_appendf(sql, "(typeof(\"%w\")<>'%s'", column, type);
	if (!is_text)
		sqlite3_str_appendf(sql, " OR \"%w\" NOT BETWEEN %lld AND %lld", column,
				    (long long)r.least, (long long)r.most);
	sqlite3_str_appendf(sql, ") THEN '%q'", column);
}

/* Appends cases for all columns of the schema, and for the metrics in the file. */
static int cases_put(struct database *d, sqlite3 *model, const char *table, sqlite3_str *sql)
{
	char name[COLUMN_BYTES];
	struct metric_set have = { 0 };
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(model,
				    "SELECT name, type, \"notnull\" OR pk FROM"
				    " pragma_table_info(?)",
				    -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(s, 0);
		const char *type = (const char *)sqlite3_column_text(s, 1);

		rc = column && type ? SQLITE_OK : SQLITE_NOMEM;
		if (rc == SQLITE_OK)
			case_put(sql, table, column, !strcmp(type, "TEXT"),
				 sqlite3_column_int(s, 2));
	}
	sqlite3_finalize(s);
	if (rc == SQLITE_DONE)
		rc = columns_read(d->db, table, &have);
	for (int i = 0; rc == SQLITE_OK && i < NR_METRICS; i++)
		if (metric_has(&have, (enum metric_id)i))
			case_put(sql, table, column_name(name, (enum metric_id)i), false, false);
	return rc;
}

/* Fails if @sql has a row, which names the place of the damage and the run. */
static int found_refuse(struct database *d, const char *sql, const char *format)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db, sql, -1, &s, NULL), err;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	err = database_error(d, rc);
	if (rc == SQLITE_ROW) {
		const char *what = (const char *)sqlite3_column_text(s, 0);

		err = database_damaged(d, format, what ? what : "",
				       (long long)sqlite3_column_int64(s, 1));
	}
	sqlite3_finalize(s);
	return err;
}

static int values_check(struct database *d, sqlite3 *model, const char *table, const char *key)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	char *sql, format[120];
	int rc, err;

	sqlite3_snprintf(sizeof(format), format,
			 "the column %%s of the table %s has an invalid value, in run %%lld",
			 table);
	sqlite3_str_appendall(text, "SELECT CASE");
	rc = cases_put(d, model, table, text);
	sqlite3_str_appendf(text, " END AS wrong, %s FROM %s WHERE wrong IS NOT NULL LIMIT 1", key,
			    table);
	sql = sqlite3_str_finish(text);
	err = database_error(d, rc);
	if (!err)
		err = sql ? found_refuse(d, sql, format) : database_error(d, SQLITE_NOMEM);
	sqlite3_free(sql);
	return err;
}

static int tables_check_values(struct database *d, sqlite3 *model)
{
	const struct run_table *t;
	int err = values_check(d, model, "run", "id");

	for (size_t i = 0; !err && (t = run_table_at(i)); i++)
		err = values_check(d, model, t->name, "run");
	return err;
}

static int meta_check(struct database *d)
{
	int err = found_refuse(d,
			       "SELECT uuid, id FROM run WHERE NOT EXISTS"
			       " (SELECT 1 FROM run_text WHERE run=id) LIMIT 1",
			       "the run '%.60s', number %lld, has no meta line");

	return err ? err
		   : found_refuse(
			     d,
			     "SELECT 'meta', id FROM run JOIN run_text ON run=id WHERE CASE WHEN"
			     " json_valid(meta) THEN json_extract(meta, '$.kind') IS NOT 'meta'"
			     " ELSE 1 END LIMIT 1",
			     "the text of kind %s of run %lld is invalid");
}

/*
 * Executes SQLite's own check. It must come first, so that the following checks read each page
 * once.
 */
static int file_check(struct database *d, const char *pragma)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db, pragma, -1, &s, NULL), err;
	const char *said = NULL;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		said = (const char *)sqlite3_column_text(s, 0);
	err = database_error(d, rc);
	if (!err && (!said || strcmp(said, "ok") != 0))
		err = database_damaged(d, "%s", said ? said : "no response from SQLite");
	sqlite3_finalize(s);
	return err;
}

static int store_check_all(struct database *d, const char *pragma)
{
	sqlite3 *model = NULL;
	int err = file_check(d, pragma);

	if (!err)
		err = database_error(d, schema_make_model(&model));
	if (!err)
		err = tables_check_values(d, model);
	sqlite3_close(model);
	return err ? err : meta_check(d);
}

int store_check(struct database *d, int64_t *rows_left)
{
	int err = store_check_all(d, "PRAGMA integrity_check(1)");

	*rows_left = 0;
	return err ? err : count_left(d, rows_left);
}

int store_check_source(struct database *d)
{
	return store_check_all(d, "PRAGMA quick_check(1)");
}
