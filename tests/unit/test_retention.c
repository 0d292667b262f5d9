// SPDX-License-Identifier: BSD-2-Clause
/* What the history of a node removes by age, and when the clock is believed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/recording.h"
#include "base/clock.h"
#include "store/database_open.h"
#include "store_fixture.h"

#define DAYS 30
#define DAY_NS (24 * 3600 * NSEC_PER_SEC)
#define HOUR_NS (3600 * NSEC_PER_SEC)

static char store[96];
static struct retention r;

/* Runs whose last lines are so many days old, the first and the last of them and those between. */
static void keep_days(int64_t from, int64_t to)
{
	char sql[400];

	keep(store, RUN SUMMARY);
	snprintf(
		sql, sizeof(sql),
		"WITH RECURSIVE n(i) AS (VALUES(%lld) UNION ALL SELECT i + 1 FROM n WHERE i < %lld)"
		"INSERT INTO run(uuid, name, start_time_ns, seen_time_ns, ended) "
		"SELECT 'u-' || i, 'old', %lld - i * %lld, %lld - i * %lld, 1 FROM n;"
		"DELETE FROM run WHERE name <> 'old'",
		(long long)from, (long long)to, (long long)clock_ns(CLOCK_REALTIME),
		(long long)DAY_NS, (long long)clock_ns(CLOCK_REALTIME), (long long)DAY_NS);
	tell(store, sql);
}

/* How many runs there are after a look at their age, which on a slow machine takes several steps.
 */
static int64_t runs_after_step(void)
{
	struct database d;

	r.due_ns = 0;
	assert_int_equal(database_open(&d, store, DATABASE_WRITE), 0);
	while (!r.due_ns)
		assert_int_equal(retention_step(&r, &d), 0);
	database_close(&d);
	return ask(store, "SELECT count(*) FROM run");
}

static int retention_begin(void **state)
{
	const struct place *p;

	if (place_make(state))
		return -1;
	p = *state;
	snprintf(store, sizeof(store), "%s", p->path);
	retention_init(&r, DAYS * DAY_NS, 1ULL << 40);
	return 0;
}

static void a_clock_that_may_be_ahead_removes_nothing(void **state)
{
	(void)state;
	keep_days(60, 64);
	assert_int_equal(runs_after_step(), 5);
	r.steady_since_ns -= 5 * HOUR_NS;
	assert_int_equal(runs_after_step(), 5);
}

static void after_hours_without_a_step_it_is_believed(void **state)
{
	(void)state;
	keep_days(29, 64);
	assert_int_equal(runs_after_step(), 36);
	r.steady_since_ns -= 7 * HOUR_NS;
	assert_int_equal(runs_after_step(), 1);
}

static void a_step_of_the_clock_begins_the_hours_anew(void **state)
{
	(void)state;
	keep_days(60, 64);
	assert_int_equal(runs_after_step(), 5);
	r.steady_since_ns -= 7 * HOUR_NS;
	r.epoch_of_boot_ns -= (int64_t)(60 * DAY_NS); /* it was that much less until now */
	assert_int_equal(runs_after_step(), 5);
	assert_int_equal(runs_after_step(), 5);
}

static void runs_of_each_day_that_is_kept_prove_the_clock(void **state)
{
	(void)state;
	keep_days(0, 40);
	assert_int_equal(runs_after_step(), DAYS);
}

static void a_day_without_a_run_proves_nothing(void **state)
{
	(void)state;
	keep_days(0, 40);
	tell(store, "DELETE FROM run WHERE uuid = 'u-9'");
	assert_int_equal(runs_after_step(), 40);
}

static void what_is_too_much_goes_whatever_the_clock_says(void **state)
{
	(void)state;
	keep_days(60, 64);
	r.keep_bytes = 1;
	assert_int_equal(runs_after_step(), 0);
}

#define RETENTION_TEST(test) cmocka_unit_test_setup_teardown(test, retention_begin, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RETENTION_TEST(a_clock_that_may_be_ahead_removes_nothing),
		RETENTION_TEST(after_hours_without_a_step_it_is_believed),
		RETENTION_TEST(a_step_of_the_clock_begins_the_hours_anew),
		RETENTION_TEST(runs_of_each_day_that_is_kept_prove_the_clock),
		RETENTION_TEST(a_day_without_a_run_proves_nothing),
		RETENTION_TEST(what_is_too_much_goes_whatever_the_clock_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
