// SPDX-License-Identifier: BSD-2-Clause
#include "store/defence.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define STEPS_PER_CALL 10000
/* Reading all of a store takes 3 for each byte of it, as tests/unit/test_store_hostile.c measures.
 */
#define STEPS_PER_BYTE 200
#define LEAST_STEPS 50000000 /* half a second: of a small file, which may grow meanwhile */
#define READ_PER_BYTE 100    /* no command reads a text more often */
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

/* Other than 0 ends the statement. */
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
