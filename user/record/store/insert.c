// SPDX-License-Identifier: BSD-2-Clause
#include "record/store/insert.h"

#include "store/column.h"

#include <errno.h>

int statement_prepare(struct database *d, const char *sql, sqlite3_stmt **s)
{
	return database_error(
		d, sqlite3_prepare_v3(d->db, sql, -1, SQLITE_PREPARE_PERSISTENT, s, NULL));
}

static void insert_put(sqlite3_str *sql, const struct stored_table *t, const struct metric_set *set)
{
	char name[COLUMN_BYTES];

	sqlite3_str_appendf(sql, "INSERT OR REPLACE INTO %s(run", t->name);
	for (size_t i = 0; i < t->nr; i++)
		sqlite3_str_appendf(sql, ",%s", t->columns[i].name);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(set, (enum metric_id)i))
			sqlite3_str_appendf(sql, ",%s", column_name(name, (enum metric_id)i));
	sqlite3_str_appendall(sql, ") VALUES(:run");
	for (size_t i = 0; i < t->nr; i++)
		sqlite3_str_appendf(sql, ",:%s", t->columns[i].name);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(set, (enum metric_id)i))
			sqlite3_str_appendall(sql, ",?");
	sqlite3_str_appendall(sql, ")");
}

int insert_prepare(struct database *d, const struct stored_table *t,
		   void (*metrics)(struct metric_set *set), sqlite3_stmt **s)
{
	sqlite3_str *text = sqlite3_str_new(d->db);
	struct metric_set set;
	char *sql;
	int err;

	metrics(&set);
	insert_put(text, t, &set);
	sql = sqlite3_str_finish(text);
	err = sql ? statement_prepare(d, sql, s) : -ENOMEM;
	sqlite3_free(sql);
	return err;
}
