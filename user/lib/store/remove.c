// SPDX-License-Identifier: BSD-2-Clause
#include "store/remove.h"

#include "store/schema.h"

/* All at once. */
static int rows_remove_few(struct database *d, const struct run_table *t, int64_t id)
{
	return database_runf(d, "DELETE FROM %s WHERE run=%lld", t->name, (long long)id);
}

int remove_head(struct database *d, int64_t id)
{
	const struct run_table *t;
	int err = database_runf(d, "DELETE FROM run WHERE id=%lld", (long long)id);

	for (size_t i = 0; !err && (t = run_table_at(i)); i++)
		if (!t->key)
			err = rows_remove_few(d, t, id);
	return err;
}

static int remove_rows_of(struct database *d, const struct run_table *t, int64_t id)
{
	struct portion p = { .after = INT64_MIN };
	int err = 0;

	while (!err && !p.is_last) {
		err = portion_next(d, "main", t, id, &p);
		if (!err && p.is_last)
			err = rows_remove_few(d, t, id);
		else if (!err)
			err = database_runf(d, "DELETE FROM %s WHERE run=%lld AND %s<=%lld",
					    t->name, (long long)id, t->key, (long long)p.upto);
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

/* The runs that a table has rows of, one search of its index each, as %s: the rows of none. */
#define RUNS_LEFT                                                                                  \
	"WITH RECURSIVE of(id) AS (SELECT min(run) FROM %s UNION ALL"                              \
	" SELECT (SELECT min(run) FROM %s WHERE run>of.id) FROM of WHERE of.id IS NOT NULL),"      \
	" gone(id) AS (SELECT id FROM of WHERE id IS NOT NULL"                                     \
	" AND NOT EXISTS (SELECT 1 FROM run WHERE run.id=of.id)) "

static int remove_left_in(struct database *d, const struct run_table *t)
{
	bool is_end = false;
	int64_t id;
	int err;

	while (!(err = database_number(d, &id, &is_end, RUNS_LEFT "SELECT id FROM gone LIMIT 1",
				       t->name, t->name)) &&
	       !is_end) {
		err = t->key ? remove_rows_of(d, t, id) : rows_remove_few(d, t, id);
		if (err)
			break;
	}
	return err;
}

int store_remove_left(struct database *d)
{
	const struct run_table *t;
	int err = 0;

	for (size_t i = 0; !err && (t = run_table_at(i)); i++)
		err = remove_left_in(d, t);
	return err;
}

int count_left(struct database *d, int64_t *rows)
{
	const struct run_table *t;
	int64_t n;
	int err = 0;

	*rows = 0;
	for (size_t i = 0; !err && (t = run_table_at(i)); i++) {
		err = database_number(
			d, &n, NULL,
			RUNS_LEFT
			"SELECT sum((SELECT count(*) FROM %s WHERE run=gone.id)) FROM gone",
			t->name, t->name, t->name);
		*rows += n;
	}
	return err;
}
