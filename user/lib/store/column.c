// SPDX-License-Identifier: BSD-2-Clause
#include "store/column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the stored unit ends a column's name, and the published one a key. */
static const struct ending {
	const char *stored, *published;
	const char *divisor;
} endings[] = {
	{ "_time_ns", "_time", "1e9" },
	{ "_ns", "_seconds", "1e9" },
	{ "_milli", "", "1e3" },
};

/* @name with @from at its end made @to. */
static char *name_replace_end(char *out, const char *name, const char *from, const char *to)
{
	size_t n = strlen(name), m = strlen(from);

	if (n >= m && !strcmp(name + n - m, from))
		n -= m;
	snprintf(out, COLUMN_BYTES, "%.*s%s", (int)n, name, to);
	return out;
}

char *column_name(char out[COLUMN_BYTES], enum metric_id id)
{
	const struct metric *m = metric_get(id);

	if (m->unit == UNIT_NS)
		return name_replace_end(out, m->key, "_seconds", "_ns");
	return name_replace_end(out, m->key, "", m->unit == UNIT_MILLI ? "_milli" : "");
}

void columns_of_process(struct metric_set *set)
{
	*set = (struct metric_set){ 0 };
	metric_set_put_of_process(set);
}

void columns_of_span(struct metric_set *set)
{
	*set = (struct metric_set){ 0 };
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_get((enum metric_id)i)->kind == KIND_COUNTER)
			metric_put(set, (enum metric_id)i);
}

/* @sql: a question of the table, whose name is its parameter. NULL: see sqlite3_errcode(). */
static sqlite3_stmt *table_ask(sqlite3 *db, const char *sql, const char *table)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC) == SQLITE_OK)
		return s;
	sqlite3_finalize(s);
	return NULL;
}

static sqlite3_stmt *columns_select(sqlite3 *db, const char *table)
{
	return table_ask(db, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table);
}

/* Asked of each column of a table for each metric: most differ in the first letter. */
static bool column_is_of(const char *column, enum metric_id id)
{
	char name[COLUMN_BYTES];

	return *column == *metric_get(id)->key && !strcmp(column, column_name(name, id));
}

int columns_read(sqlite3 *db, const char *table, struct metric_set *have)
{
	sqlite3_stmt *info = columns_select(db, table);

	memset(have, 0, sizeof(*have));
	if (!info)
		return sqlite3_errcode(db);
	while (sqlite3_step(info) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(info, 0);

		if (!column) {
			sqlite3_finalize(info);
			return SQLITE_NOMEM;
		}
		for (int i = 0; i < NR_METRICS; i++)
			if (column_is_of(column, (enum metric_id)i))
				metric_put(have, (enum metric_id)i);
	}
	return sqlite3_finalize(info);
}

static void view_put_column(FILE *f, const char *column)
{
	char key[COLUMN_BYTES];

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t n = strlen(column), m = strlen(endings[i].stored);

		if (n <= m || strcmp(column + n - m, endings[i].stored) != 0)
			continue;
		name_replace_end(key, column, endings[i].stored, endings[i].published);
		fprintf(f, ", %s / %s AS %s", column, endings[i].divisor, key);
		return;
	}
	fprintf(f, ", %s", column);
}

/* Of the columns that the table has, whichever version added them: also those of metrics that we do
 * not know.
 */
static int view_make(sqlite3 *db, const char *table, const char *view)
{
	sqlite3_stmt *info = columns_select(db, table);
	char *sql = NULL;
	bool is_short;
	size_t length;
	FILE *f = info ? open_memstream(&sql, &length) : NULL;
	int rc;

	if (!f) {
		sqlite3_finalize(info);
		return SQLITE_NOMEM;
	}
	fprintf(f, "DROP VIEW IF EXISTS %s; CREATE VIEW %s AS SELECT run", view, view);
	while (sqlite3_step(info) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(info, 0);

		if (column && strcmp(column, "run") != 0)
			view_put_column(f, column);
	}
	fprintf(f, " FROM %s", table);
	rc = sqlite3_finalize(info);
	is_short = ferror(f);
	if (fclose(f) || is_short)
		rc = SQLITE_NOMEM;
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	free(sql);
	return rc;
}

static bool column_is_missing(const struct metric_set *wanted, const struct metric_set *have, int i)
{
	return metric_has(wanted, (enum metric_id)i) && !metric_has(have, (enum metric_id)i);
}

static int columns_add_one_by_one(sqlite3 *db, const char *table, const struct metric_set *wanted,
				  const struct metric_set *have)
{
	char name[COLUMN_BYTES], sql[200];
	int rc = SQLITE_OK;

	for (int i = 0; rc == SQLITE_OK && i < NR_METRICS; i++) {
		if (!column_is_missing(wanted, have, i))
			continue;
		snprintf(sql, sizeof(sql), "ALTER TABLE %s ADD COLUMN %s INTEGER", table,
			 column_name(name, (enum metric_id)i));
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	}
	return rc;
}

/* What made the table, then what made its indices. */
static sqlite3_stmt *makers_select(sqlite3 *db, const char *table)
{
	return table_ask(db,
			 "SELECT sql FROM sqlite_master WHERE tbl_name=? AND sql IS NOT NULL"
			 " ORDER BY type != 'table'",
			 table);
}

static void missing_put(sqlite3_str *sql, const struct metric_set *wanted,
			const struct metric_set *have)
{
	char name[COLUMN_BYTES];

	for (int i = 0; i < NR_METRICS; i++)
		if (column_is_missing(wanted, have, i))
			sqlite3_str_appendf(sql, ", %s INTEGER",
					    column_name(name, (enum metric_id)i));
}

/* What makes it anew with all columns; NULL: there is no memory. */
static char *table_remake_text(sqlite3 *db, const char *table, const struct metric_set *wanted,
			       const struct metric_set *have)
{
	sqlite3_stmt *made = makers_select(db, table);
	sqlite3_str *sql = sqlite3_str_new(db);
	const char *text, *keys = NULL;
	int rc = SQLITE_ERROR;

	sqlite3_str_appendf(sql, "DROP TABLE %s;", table);
	while (made && (rc = sqlite3_step(made)) == SQLITE_ROW) {
		text = (const char *)sqlite3_column_text(made, 0);
		if (!text)
			break;
		if (!keys) { /* the first is the table; its columns come before its key */
			keys = strstr(text, ", PRIMARY KEY(");
			if (!keys)
				break;
			sqlite3_str_append(sql, text, (int)(keys - text));
			missing_put(sql, wanted, have);
			text = keys;
		}
		sqlite3_str_appendf(sql, "%s;", text);
	}
	sqlite3_finalize(made);
	if (rc == SQLITE_DONE && keys)
		return sqlite3_str_finish(sql);
	sqlite3_free(sqlite3_str_finish(sql));
	return NULL;
}

/*
 * With each column that is added SQLite reads the whole schema again, which for all columns of a
 * new store takes a tenth of a second.
 */
static int table_remake(sqlite3 *db, const char *table, const struct metric_set *wanted,
			const struct metric_set *have)
{
	char *sql = table_remake_text(db, table, wanted, have);
	int rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return rc;
}

int columns_add(sqlite3 *db, const char *table, const char *view, const struct metric_set *wanted,
		const struct metric_set *have, bool is_new)
{
	int rc = is_new ? table_remake(db, table, wanted, have)
			: columns_add_one_by_one(db, table, wanted, have);

	return rc == SQLITE_OK && view ? view_make(db, table, view) : rc;
}
