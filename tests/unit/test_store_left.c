// SPDX-License-Identifier: BSD-2-Clause
/* Rows whose run is gone: counted, removed, and in no number that a user sees. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "merge_fixture.h"
#include "store/database_open.h"
#include "store/database.h"
#include "store/remove.h"

static void prune_or_die(const char *store, const char *what, struct disturbance *x)
{
	struct database d;
	struct pruned gone;

	(void)what;
	if (database_open(&d, store, DATABASE_CHANGE))
		_exit(1);
	sqlite3_wal_hook(d.db, disturb, x);
	if (store_prune(&d, &(struct prune_limits){ .has_keep = true }, false, &gone))
		_exit(1);
	database_close(&d);
}

static int64_t rows_left(const char *store)
{
	struct database d;
	int64_t rows;

	assert_int_equal(database_open(&d, store, DATABASE_READ), 0);
	assert_int_equal(store_check(&d, &rows), 0);
	database_close(&d);
	return rows;
}

static int64_t samples_told(const char *store)
{
	struct store_size size;
	struct database d;

	assert_int_equal(database_open(&d, store, DATABASE_READ), 0);
	assert_int_equal(store_size(&d, store, &size), 0);
	database_close(&d);
	return size.samples + size.processes;
}

/* One prune that dies, what is said of the store then, and what is done with it. */
static void what_a_prune_leaves_is_counted_by_check_and_removed_by_the_next(void **state)
{
	const struct place *p = *state;
	char whole[200];
	struct database d;

	make_files(p);
	snprintf(whole, sizeof(whole), "%s/whole", p->dir);
	merge(p->path, whole);
	assert_int_equal(rows_left(p->path), 0);
	assert_int_equal(samples_told(p->path), SAMPLES + PROCESSES);
	assert_true(dies(p->path, NULL, 2, prune_or_die)); /* the row, and a portion of samples */
	assert_int_equal(ask(p->path, "SELECT count(*) FROM runs"), 0);
	assert_int_equal(rows_left(p->path), SAMPLES - 5000 + SAMPLES / 64 + PROCESSES + SPANS);
	assert_int_equal(samples_told(p->path), 0);
	assert_int_equal(database_open(&d, p->path, DATABASE_CHANGE), 0);
	assert_int_equal(store_remove_left(&d), 0);
	database_close(&d);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM " ROWS), 0);
	assert_int_equal(rows_left(p->path), 0);
}

static void rows_of_runs_stay_when_those_of_none_are_removed(void **state)
{
	const struct place *p = *state;
	struct database d;

	keep(p->path, META_OF("01", "\"tags\":{\"a\":\"b\"},") SAMPLE_1);
	keep(p->path, META_OF("02", "\"tags\":{\"a\":\"b\"},") SAMPLE_1);
	keep(p->path, META_OF("03", "\"tags\":{\"a\":\"b\"},") SAMPLE_1);
	tell(p->path, "DELETE FROM run WHERE id=2;"
		      "INSERT INTO sample(run,elapsed_ns) VALUES(-2,1),(6,1),(6,2),(9,1);"
		      "INSERT INTO tag VALUES(6,'k','v'),(9,'k','v');"
		      "INSERT INTO run_text(run,meta) VALUES(8,'{}')");
	assert_int_equal(rows_left(p->path), 3 + 4 + 2 + 1);
	assert_int_equal(database_open(&d, p->path, DATABASE_CHANGE), 0);
	assert_int_equal(store_remove_left(&d), 0);
	database_close(&d);
	assert_int_equal(ask(p->path, OF_NO_RUN), 0);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM " ROWS), 2 * 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(what_a_prune_leaves_is_counted_by_check_and_removed_by_the_next),
		PLACE_TEST(rows_of_runs_stay_when_those_of_none_are_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
