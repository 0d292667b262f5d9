// SPDX-License-Identifier: BSD-2-Clause
#include "store/remove.h"

#include "base/progress.h"
#include "store/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

/*
 * Selects the runs that the table (%s, twice) has rows of but `run` lacks, with one index search
 * each.
 */
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

/* Average sizes of rows, indexed as run_table_at(). */
struct scale {
	double row_bytes[NR_RUN_TABLES];
};

/* Reads the average row size of each table. Errors as database_open(), here and below. */
static int scale_read(struct database *d, struct scale *s)
{
	const struct run_table *t;
	int64_t bytes, rows;
	int err = 0;

	if (!sqlite3_compileoption_used("ENABLE_DBSTAT_VTAB")) {
		snprintf(d->why, sizeof(d->why),
			 "--dry-run needs the dbstat table, which this SQLite lacks");
		return -ENOTSUP;
	}
	for (size_t i = 0; !err && (t = run_table_at(i)); i++) {
		/* LIMIT, because pages of a damaged file may form a cycle */
		err = database_number(d, &bytes, NULL,
				      "SELECT sum(pgsize) FROM (SELECT pgsize FROM dbstat WHERE"
				      " name=%Q LIMIT (SELECT page_count FROM pragma_page_count))",
				      t->name);
		if (!err)
			err = database_number(d, &rows, NULL, "SELECT count(1) FROM %s", t->name);
		if (!err)
			s->row_bytes[i] = rows ? (double)bytes / (double)rows : 0;
	}
	return err;
}

static int scale_weigh(struct database *d, const struct scale *s, int64_t run, int64_t *bytes)
{
	const struct run_table *t;
	double sum = 0;
	int64_t rows;
	int err = 0;

	for (size_t i = 0; !err && (t = run_table_at(i)); i++) {
		err = database_number(d, &rows, NULL, "SELECT count(*) FROM %s WHERE run=%lld",
				      t->name, (long long)run);
		if (!err)
			sum += s->row_bytes[i] * (double)rows;
	}
	*bytes = (int64_t)sum;
	return err;
}

#define PAGES_AT_ONCE 1000

static int used_bytes(struct database *d, int64_t *bytes)
{
	int64_t pages, unused, size;
	int err = database_number(d, &pages, NULL, "PRAGMA page_count");

	if (!err)
		err = database_number(d, &unused, NULL, "PRAGMA freelist_count");
	if (!err)
		err = database_number(d, &size, NULL, "PRAGMA page_size");
	if (!err)
		*bytes = (pages - unused) * size;
	return err;
}

static uint64_t file_bytes(const char *path, const char *suffix)
{
	char *name = sqlite3_mprintf("%s%s", path, suffix);
	struct stat st;
	uint64_t bytes = name && !stat(name, &st) ? (uint64_t)st.st_size : 0;

	sqlite3_free(name);
	return bytes;
}

int store_size(struct database *d, const char *path, struct store_size *size)
{
	const struct {
		const char *sql;
		int64_t *value;
	} rows[] = {
		{ "SELECT count(1) FROM run", &size->runs },
		{ "SELECT sum((SELECT count(*) FROM sample WHERE run=id)) FROM run",
		  &size->samples },
		{ "SELECT sum((SELECT count(*) FROM process WHERE run=id)) FROM run",
		  &size->processes },
		{ "SELECT min(start_time_ns) FROM run", &size->oldest_ns },
		{ "SELECT max(start_time_ns) FROM run", &size->newest_ns },
	};
	int err = used_bytes(d, &size->used_bytes);

	size->file_bytes = file_bytes(path, "") + file_bytes(path, "-wal");
	for (size_t i = 0; !err && i < sizeof(rows) / sizeof(*rows); i++)
		err = database_number(d, rows[i].value, NULL, "%s", rows[i].sql);
	return err;
}

/*
 * Returns whether to remove the run @r, number @nth from the newest, while @used bytes are in use.
 */
static bool run_should_prune(const struct prune_limits *l, const struct stored_run *r, size_t nth,
			     int64_t used)
{
	if (r->state == RUN_RUNNING)
		return false;
	return r->start_epoch_ns < l->before_ns || (l->has_keep && nth >= l->keep) ||
	       (l->max_bytes && used > (int64_t)l->max_bytes);
}

static int runs_prune(struct database *d, const struct prune_limits *l,
		      const struct stored_runs *all, struct pruned *gone)
{
	int64_t before = 0, used;
	int err = used_bytes(d, &before);

	used = before;
	for (size_t i = all->nr; !err && i-- > 0;) { /* from the oldest on */
		if (!run_should_prune(l, &all->runs[i], i, used))
			continue;
		err = remove_run(d, all->runs[i].id);
		progress_add(1);
		gone->runs += !err;
		if (!err)
			err = used_bytes(d, &used);
	}
	if (!err)
		err = store_remove_left(d);
	if (!err)
		err = used_bytes(d, &used);
	if (!err)
		gone->bytes = before - used;
	return err;
}

static int runs_prune_dry(struct database *d, const struct prune_limits *l,
			  const struct stored_runs *all, struct pruned *gone)
{
	struct scale scale = { 0 };
	int64_t used = 0, bytes;
	int err = used_bytes(d, &used);

	if (!err)
		err = scale_read(d, &scale);
	for (size_t i = all->nr; !err && i-- > 0;) {
		if (!run_should_prune(l, &all->runs[i], i, used - gone->bytes))
			continue;
		err = scale_weigh(d, &scale, all->runs[i].id, &bytes);
		gone->bytes += bytes;
		gone->runs++;
	}
	return err;
}

/* The loop ends as soon as the number of free pages no longer falls. */
int store_return_space(struct database *d)
{
	int64_t unused, before = INT64_MAX;
	int err;

	while (!(err = database_number(d, &unused, NULL, "PRAGMA freelist_count")) && unused &&
	       unused < before) {
		before = unused;
		err = database_runf(d, "PRAGMA incremental_vacuum(%d)", PAGES_AT_ONCE);
		if (err)
			return err;
	}
	return err ? err : database_run(d, "PRAGMA wal_checkpoint(TRUNCATE)");
}

int store_prune(struct database *d, const struct prune_limits *limits, bool dry,
		struct pruned *gone)
{
	struct stored_runs all = { 0 };
	int err = query_runs(d, 0, &(struct run_filter){ 0 }, &all);

	*gone = (struct pruned){ 0 };
	stored_runs_sort(&all, BY_START);
	if (!err)
		err = dry ? runs_prune_dry(d, limits, &all, gone)
			  : runs_prune(d, limits, &all, gone);
	if (!err && !dry)
		err = store_return_space(d);
	stored_runs_done(&all);
	return err;
}
