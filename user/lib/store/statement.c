// SPDX-License-Identifier: BSD-2-Clause
/* Statements of SQL, and the errors that SQLite reports. */
#include "store/database.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int database_error(struct database *d, int status)
{
	static const struct {
		int status, err;
		const char *why;
	} known[] = {
		{ SQLITE_BUSY, -EAGAIN, "others have been writing to it for too long" },
		{ SQLITE_LOCKED, -EAGAIN, "others have been writing to it for too long" },
		{ SQLITE_FULL, -ENOSPC, "no space left on its disk" },
		{ SQLITE_READONLY, -EROFS, "it may only be read" },
		{ SQLITE_NOMEM, -ENOMEM, "out of memory" },
		{ SQLITE_CORRUPT, -EUCLEAN,
		  "the file is damaged; move it away, and a new one is begun" },
		{ SQLITE_PERM, -EPERM,
		  "it, or a journal beside it, is another user's or has a second name, in a "
		  "folder that everybody may write to; name another with --store" },
		{ SQLITE_NOTADB, -EUCLEAN,
		  "it is not a store of bpfmon; name another with --store" },
		{ SQLITE_INTERRUPT, -EUCLEAN,
		  "it is damaged: to read it takes more work than its size explains" },
		{ SQLITE_TOOBIG, -EFBIG, "a value is longer than the 64 MiB that a store takes" },
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
	/* of other errors it is one of before */
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
