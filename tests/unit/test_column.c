// SPDX-License-Identifier: BSD-2-Clause
/* The columns of metrics of a new store, against those that are added to tables one by one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "store/schema.h"
#include "store/database.h"

/* The text of all tables, indexes and views; to be freed. */
static char *schema_text(bool with_metrics)
{
	sqlite3_stmt *s;
	sqlite3 *db;
	char *text;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(schema_make(db, with_metrics), SQLITE_OK);
	assert_int_equal(schema_add_columns(db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
					    "SELECT group_concat(sql, ';') FROM"
					    " (SELECT sql FROM sqlite_master ORDER BY type, name)",
					    -1, &s, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	text = sqlite3_mprintf("%s", sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	sqlite3_close(db);
	return text;
}

static void a_new_store_is_as_one_that_has_got_its_columns_one_by_one(void **state)
{
	char *made = schema_text(true), *added = schema_text(false);

	(void)state;
	assert_non_null(strstr(made, "CREATE INDEX span_name"));
	assert_non_null(strstr(made, "CREATE VIEW instances"));
	assert_non_null(strstr(made, "cores_milli INTEGER"));
	assert_string_equal(made, added);
	sqlite3_free(made);
	sqlite3_free(added);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_store_is_as_one_that_has_got_its_columns_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
