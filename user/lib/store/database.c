// SPDX-License-Identifier: BSD-2-Clause
#include "store/database.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int database_error(struct database *d, int status)
{
	static const struct {
		int status, err;
		const char *why;
	} known[] = {
		{ SQLITE_BUSY, -EAGAIN, "it is locked by other writers" },
		{ SQLITE_LOCKED, -EAGAIN, "it is locked by other writers" },
		{ SQLITE_FULL, -ENOSPC, "no space left on its disk" },
		{ SQLITE_READONLY, -EROFS, "it is read-only" },
		{ SQLITE_NOMEM, -ENOMEM, "out of memory" },
		{ SQLITE_CORRUPT, -EUCLEAN,
		  "the file is damaged; move it away, and bpfmon will create a new one" },
		{ SQLITE_PERM, -EPERM,
		  "it or its journal belongs to another user or has several hard links, in a "
		  "world-writable directory; use another one with --store" },
		{ SQLITE_NOTADB, -EUCLEAN,
		  "it is not a bpfmon store; use another one with --store" },
		{ SQLITE_INTERRUPT, -EUCLEAN,
		  "it is damaged: reading it takes more work than its size explains" },
		{ SQLITE_TOOBIG, -EFBIG, "a value is larger than 64 MiB, the limit of a store" },
	};
	int err = d->db ? sqlite3_system_errno(d->db) : 0;

	if (status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW)
		return 0;
	if (status == SQLITE_IOERR_NOMEM)
		status = SQLITE_NOMEM;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (known[i].status != (status & 0xff))
			continue;
		snprintf(d->why, sizeof(d->why), "%s", known[i].why);
		return known[i].err;
	}
	/* other statuses leave an earlier errno there */
	if (err && ((status & 0xff) == SQLITE_IOERR || (status & 0xff) == SQLITE_CANTOPEN)) {
		snprintf(d->why, sizeof(d->why), "%s", strerror(err));
		return -err;
	}
	snprintf(d->why, sizeof(d->why), "%s", d->db ? sqlite3_errmsg(d->db) : "out of memory");
	return -EIO;
}

int database_run(struct database *d, const char *sql)
{
	return database_error(d, sqlite3_exec(d->db, sql, NULL, NULL, NULL));
}

int database_runf(struct database *d, const char *format, ...)
{
	va_list args;
	char *sql;
	int err;

	va_start(args, format);
	sql = sqlite3_vmprintf(format, args);
	va_end(args);
	err = sql ? database_run(d, sql) : database_error(d, SQLITE_NOMEM);
	sqlite3_free(sql);
	return err;
}

int database_check_update(struct database *d)
{
	if (sqlite3_changes(d->db) == 1)
		return 0;
	snprintf(d->why, sizeof(d->why), "the run has been removed from it");
	return -ESTALE;
}

static int number_query(struct database *d, const char *sql, int64_t *value, bool *is_none)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db, sql, -1, &s, NULL);
	bool has_one;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	has_one = rc == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL;
	*value = has_one ? sqlite3_column_int64(s, 0) : 0;
	if (is_none)
		*is_none = !has_one;
	sqlite3_finalize(s);
	return database_error(d, rc);
}

int database_number(struct database *d, int64_t *value, bool *is_none, const char *format, ...)
{
	va_list args;
	char *sql;
	int err;

	va_start(args, format);
	sql = sqlite3_vmprintf(format, args);
	va_end(args);
	err = sql ? number_query(d, sql, value, is_none) : database_error(d, SQLITE_NOMEM);
	sqlite3_free(sql);
	return err;
}

int database_transact(struct database *d, int (*act)(struct database *d, void *context),
		      void *context)
{
	int err = database_run(d, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = act(d, context);
	if (!err)
		err = database_run(d, "COMMIT");
	if (err)
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

#define STEPS_PER_CALL 10000
/* Reading a whole store takes 3 steps per byte, as tests/unit/test_store_hostile.c measures. */
#define STEPS_PER_BYTE 200
#define LEAST_STEPS 50000000 /* half a second of work, for a small file that may grow meanwhile */
#define READ_PER_BYTE 100    /* no command reads a value more often */
#define LEAST_READ (256UL << 20)

int defence_set_up(sqlite3 *db)
{
	static const struct {
		int option, value;
	} options[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
	}, limits[] = {
		{ SQLITE_LIMIT_LENGTH, VALUE_MIB << 20 },
		{ SQLITE_LIMIT_SQL_LENGTH, 100000 },
		{ SQLITE_LIMIT_COLUMN, 1000 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 10 },
		{ SQLITE_LIMIT_ATTACHED, 1 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < sizeof(options) / sizeof(*options); i++)
		rc = sqlite3_db_config(db, options[i].option, options[i].value, NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		sqlite3_limit(db, limits[i].option, limits[i].value);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", NULL, NULL,
				  NULL);
	return rc;
}

/* Progress handler of SQLite: a result other than 0 interrupts the statement. */
static int steps_count(void *context)
{
	struct database *d = context;

	if (d->steps_left <= STEPS_PER_CALL)
		return 1;
	d->steps_left -= STEPS_PER_CALL;
	return 0;
}

static uint64_t file_count_bytes(const char *path)
{
	char *log = sqlite3_mprintf("%s-wal", path);
	struct stat st;
	uint64_t bytes = 0;

	if (!stat(path, &st))
		bytes += (uint64_t)st.st_size;
	if (log && !stat(log, &st))
		bytes += (uint64_t)st.st_size;
	sqlite3_free(log);
	return bytes;
}

void defence_bound(struct database *d, const char *path, const char *other)
{
	uint64_t bytes = file_count_bytes(path) + (other ? file_count_bytes(other) : 0);

	d->steps_left = LEAST_STEPS + bytes * STEPS_PER_BYTE;
	d->bytes_left = LEAST_READ + bytes * READ_PER_BYTE;
	sqlite3_progress_handler(d->db, STEPS_PER_CALL, steps_count, d);
}

void defence_lift_bound(struct database *d)
{
	d->bytes_left = UINT64_MAX;
	sqlite3_progress_handler(d->db, 0, NULL, NULL);
}

int defence_count(struct database *d, uint64_t bytes)
{
	if (bytes > d->bytes_left)
		return database_error(d, SQLITE_INTERRUPT);
	d->bytes_left -= bytes;
	return 0;
}

int database_damaged(struct database *d, const char *format, ...)
{
	static const char prefix[] = "it is damaged: ";
	va_list args;

	va_start(args, format);
	memcpy(d->why, prefix, sizeof(prefix));
	vsnprintf(d->why + sizeof(prefix) - 1, sizeof(d->why) - sizeof(prefix) + 1, format, args);
	va_end(args);
	return -EUCLEAN;
}
