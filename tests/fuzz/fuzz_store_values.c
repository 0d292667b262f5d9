// SPDX-License-Identifier: BSD-2-Clause
/*
 * A valid store with values replaced: of each eight bytes the first chooses the table, the second
 * the column, the third the kind of value, the fourth the number of following bytes it is made of.
 */
#include "store_files.h"

#define CHANGES 4 /* the most for one input */

static void bind_value(sqlite3_stmt *s, unsigned kind, const uint8_t *data, size_t size)
{
	uint64_t bits = 0;
	double real;

	memcpy(&bits, data, size < sizeof(bits) ? size : sizeof(bits));
	memcpy(&real, &bits, sizeof(real));
	switch (kind % 6) {
	case 0:
		sqlite3_bind_null(s, 1);
		break;
	case 1:
		sqlite3_bind_int64(s, 1, (int64_t)bits);
		break;
	case 2:
		sqlite3_bind_double(s, 1, real);
		break;
	case 3:
		sqlite3_bind_blob(s, 1, data, (int)size, SQLITE_TRANSIENT);
		break;
	case 4:
		sqlite3_bind_int64(s, 1, (int8_t)bits);
		break;
	default:
		sqlite3_bind_text(s, 1, (const char *)data, (int)size, SQLITE_TRANSIENT);
	}
}

/* A value that the store refuses is not replaced. */
static void value_change(sqlite3 *db, const uint8_t *data, size_t size)
{
	static const char *const tables[] = {
		"run", "run_text", "tag", "sample", "block", "process", "process_sample", "event"
	};
	const char *table = tables[data[0] % (sizeof(tables) / sizeof(*tables))];
	sqlite3_stmt *column = NULL, *s = NULL;
	char *sql;

	sql = sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q) LIMIT 1 OFFSET %d %%"
			      " (SELECT count(1) FROM pragma_table_info(%Q))",
			      table, data[1], table);
	FUZZ_HOLDS(sql && sqlite3_prepare_v2(db, sql, -1, &column, NULL) == SQLITE_OK);
	sqlite3_free(sql);
	FUZZ_HOLDS(sqlite3_step(column) == SQLITE_ROW);
	sql = sqlite3_mprintf("UPDATE OR IGNORE %s SET \"%w\"=?", table,
			      sqlite3_column_text(column, 0));
	FUZZ_HOLDS(sql && sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK);
	sqlite3_free(sql);
	bind_value(s, data[2], data + 4, size - 4);
	sqlite3_step(s);
	sqlite3_finalize(s);
	sqlite3_finalize(column);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct store_files f;
	struct store_read what;
	sqlite3 *db = NULL;

	store_files_make(&f);
	store_files_put(f.hostile, f.whole, f.whole_length);
	store_files_put(f.into, f.empty, f.empty_length);
	FUZZ_HOLDS(sqlite3_open(f.hostile, &db) == SQLITE_OK);
	sqlite3_exec(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY", NULL, NULL, NULL);
	for (int i = 0; i < CHANGES && size > 4; i++) {
		size_t used = 4 + data[3] % 32;

		used = used < size ? used : size;
		value_change(db, data, i == CHANGES - 1 ? size : used);
		data += used;
		size -= used;
	}
	sqlite3_close(db);
	readers_run(f.hostile, f.into, &what);
	FUZZ_HOLDS(!what.opened);
	readers_remove(f.into);
	readers_remove(f.hostile);
	return 0;
}
