// SPDX-License-Identifier: BSD-2-Clause
#include "store/remove.h"

#include "store/tables.h"

int remove_head(struct database *d, int64_t id)
{
	const struct run_table *t;
	int err = database_runf(d, "DELETE FROM run WHERE id=%lld", (long long)id);

	for (size_t i = 0; !err && (t = run_table_at(i)); i++)
		if (!t->key)
			err = database_runf(d, "DELETE FROM %s WHERE run=%lld", t->name,
					    (long long)id);
	return err;
}

static int remove_rows_of(struct database *d, const struct run_table *t, int64_t id)
{
	struct portion p = { .after = INT64_MIN };
	int err = 0;

	while (!err && !p.is_last) {
		err = portion_next(d, "main", t, id, &p);
		if (!err && p.is_last)
			err = database_runf(d, "DELETE FROM %s WHERE run=%lld", t->name,
					    (long long)id);
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

/* From run to run, by the index. */
static int remove_left_in(struct database *d, const struct run_table *t)
{
	int64_t id = INT64_MIN, found;
	bool is_end = false, is_left;
	int err = 0;

	while (!err) {
		err = database_number(d, &id, &is_end, "SELECT min(run) FROM %s WHERE run>%lld",
				      t->name, (long long)id);
		if (err || is_end)
			break;
		err = database_number(d, &found, &is_left, "SELECT id FROM run WHERE id=%lld",
				      (long long)id);
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
