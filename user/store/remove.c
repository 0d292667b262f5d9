// SPDX-License-Identifier: BSD-2-Clause
#include "store/remove.h"

#include "store/tables.h"

#include <errno.h>

/* Runs what sqlite3_mprintf() has made, and frees it. */
static int run_and_free(struct database *d, char *sql)
{
	int err = sql ? database_run(d, sql) : -ENOMEM;

	sqlite3_free(sql);
	return err;
}

int remove_head(struct database *d, int64_t id)
{
	const struct run_table *t;
	int err = run_and_free(d, sqlite3_mprintf("DELETE FROM run WHERE id=%lld", (long long)id));

	for (size_t i = 0; !err && (t = run_table_at(i)); i++)
		if (!t->key)
			err = run_and_free(d, sqlite3_mprintf("DELETE FROM %s WHERE run=%lld",
							      t->name, (long long)id));
	return err;
}

static int remove_rows_of(struct database *d, const struct run_table *t, int64_t id)
{
	struct portion p = { .after = INT64_MIN };
	int err = 0;

	while (!err && !p.is_last) {
		err = portion_next(d, "main", t, id, &p);
		if (!err && p.is_last)
			err = run_and_free(d, sqlite3_mprintf("DELETE FROM %s WHERE run=%lld",
							      t->name, (long long)id));
		else if (!err)
			err = run_and_free(
				d,
				sqlite3_mprintf("DELETE FROM %s WHERE run=%lld AND %s<=%lld",
						t->name, (long long)id, t->key, (long long)p.upto));
	}
	return err;
}

int remove_rows(struct database *d, int64_t id)
{
	const struct run_table *t;
	int err = 0;

	for (size_t i = 0; !err && (t = run_table_at(i)); i++)
		if (t->key)
			err = remove_rows_of(d, t, id);
	return err;
}

static int remove_head_of(struct database *d, void *id)
{
	return remove_head(d, *(const int64_t *)id);
}

int remove_run(struct database *d, int64_t id)
{
	int err = database_transact(d, remove_head_of, &id);

	return err ? err : remove_rows(d, id);
}

static int ask_and_free(struct database *d, char *sql, int64_t *value, bool *is_none)
{
	int err = sql ? database_number(d, sql, value, is_none) : -ENOMEM;

	sqlite3_free(sql);
	return err;
}

/* From run to run, by the index. */
static int remove_left_in(struct database *d, const struct run_table *t)
{
	int64_t id = INT64_MIN, found;
	bool is_end = false, is_left;
	int err = 0;

	while (!err) {
		err = ask_and_free(d,
				   sqlite3_mprintf("SELECT min(run) FROM %s WHERE run>%lld",
						   t->name, (long long)id),
				   &id, &is_end);
		if (err || is_end)
			break;
		err = ask_and_free(
			d, sqlite3_mprintf("SELECT id FROM run WHERE id=%lld", (long long)id),
			&found, &is_left);
		if (!err && is_left)
			err = remove_rows_of(d, t, id);
	}
	return err;
}

int remove_left(struct database *d)
{
	const struct run_table *t;
	int err = 0;

	for (size_t i = 0; !err && (t = run_table_at(i)); i++)
		if (t->key)
			err = remove_left_in(d, t);
	return err;
}
