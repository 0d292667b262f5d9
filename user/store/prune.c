// SPDX-License-Identifier: BSD-2-Clause
#include "store/prune.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const tables[] = { "sample", "block", "process", "process_sample",
				      "event",  "tag",   "run_text" };

/* The first column of the first row. */
static int ask(struct database *d, const char *sql, uint64_t *value)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db, sql, -1, &s, NULL);

	*value = 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*value = (uint64_t)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return database_error(d, rc);
}

static int used_bytes(struct database *d, uint64_t *bytes)
{
	uint64_t pages, unused, size;
	int err = ask(d, "PRAGMA page_count", &pages);

	if (!err)
		err = ask(d, "PRAGMA freelist_count", &unused);
	if (!err)
		err = ask(d, "PRAGMA page_size", &size);
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
		uint64_t *value;
	} rows[] = {
		{ "SELECT count(*) FROM run", &size->runs },
		{ "SELECT count(*) FROM sample", &size->samples },
		{ "SELECT count(*) FROM process", &size->processes },
		{ "SELECT min(start_time_ns) FROM run", &size->oldest_ns },
		{ "SELECT max(start_time_ns) FROM run", &size->newest_ns },
	};
	int err = used_bytes(d, &size->used_bytes);

	size->file_bytes = file_bytes(path, "") + file_bytes(path, "-wal");
	for (size_t i = 0; !err && i < sizeof(rows) / sizeof(*rows); i++)
		err = ask(d, rows[i].sql, rows[i].value);
	return err;
}

static int remove_from(struct database *d, const char *table, const char *key, int64_t id)
{
	char *sql = sqlite3_mprintf("DELETE FROM %s WHERE %s=%lld", table, key, (long long)id);
	int err = sql ? database_run(d, sql) : -ENOMEM;

	sqlite3_free(sql);
	return err;
}

int store_remove_run(struct database *d, int64_t id)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(tables) / sizeof(*tables); i++)
		err = remove_from(d, tables[i], "run", id);
	return err ? err : remove_from(d, "run", "id", id);
}

/* One run a transaction, so that who records waits for no more than that. */
static int remove_now(struct database *d, int64_t id)
{
	int err = database_run(d, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = store_remove_run(d, id);
	if (!err)
		err = database_run(d, "COMMIT");
	if (err)
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

/* Whether the run goes, which is the @nth from the newest one. */
static int is_to_go(struct database *d, const struct prune_limits *l, const struct stored_run *r,
		    size_t nth, bool *goes)
{
	uint64_t bytes;
	int err = 0;

	*goes = r->start_epoch_ns < l->before_ns || (l->has_keep && nth >= l->keep);
	if (!*goes && l->max_bytes) {
		err = used_bytes(d, &bytes);
		*goes = !err && bytes > l->max_bytes;
	}
	return err;
}

static int prune_runs(struct database *d, const struct prune_limits *l, bool dry,
		      const struct stored_runs *all, struct pruned *gone)
{
	uint64_t before, after;
	int err = used_bytes(d, &before);

	for (size_t i = all->nr; !err && i-- > 0;) { /* from the oldest on */
		const struct stored_run *r = &all->runs[i];
		bool goes;

		if (r->state == RUN_RUNNING)
			continue;
		err = is_to_go(d, l, r, i, &goes);
		if (err || !goes)
			continue;
		err = dry ? store_remove_run(d, r->id) : remove_now(d, r->id);
		if (!err)
			gone->runs++;
	}
	if (!err)
		err = used_bytes(d, &after);
	if (!err)
		gone->bytes = before - after;
	return err;
}

/* Does it, looks what it would have come to, and takes it back. */
static int prune_dry(struct database *d, const struct prune_limits *l,
		     const struct stored_runs *all, struct pruned *gone)
{
	int err = database_run(d, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = prune_runs(d, l, true, all, gone);
	sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

int store_prune(struct database *d, const struct prune_limits *limits, bool dry,
		struct pruned *gone)
{
	struct stored_runs all = { 0 };
	int err = query_runs(d, 0, &(struct run_filter){ 0 }, &all);

	*gone = (struct pruned){ 0 };
	stored_runs_sort(&all, BY_START);
	if (!err)
		err = dry ? prune_dry(d, limits, &all, gone)
			  : prune_runs(d, limits, false, &all, gone);
	if (!err && gone->runs && !dry)
		err = database_run(d, "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
	stored_runs_done(&all);
	return err;
}

int store_check(struct database *d)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db, "PRAGMA integrity_check(1)", -1, &s, NULL);
	const char *said;
	bool is_whole;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc != SQLITE_ROW) {
		sqlite3_finalize(s);
		return database_error(d, rc);
	}
	said = (const char *)sqlite3_column_text(s, 0);
	is_whole = said && !strcmp(said, "ok");
	if (!is_whole)
		snprintf(d->why, sizeof(d->why), "%s", said ? said : "no answer");
	sqlite3_finalize(s);
	return !is_whole;
}
