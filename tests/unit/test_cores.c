// SPDX-License-Identifier: BSD-2-Clause
/* Cores in use over a time that is long enough to tell. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/sample.h"

#define MS 1000000ULL
#define NONE UINT64_MAX

static uint64_t add(struct cores *c, uint64_t elapsed_ns, uint64_t milli)
{
	struct sample s = { .elapsed_ns = elapsed_ns };
	uint64_t said;

	sample_set(&s, M_cores, milli);
	return cores_add(c, &s, &said) ? said : NONE;
}

static void long_intervals_are_as_they_were_read(void **state)
{
	struct cores c = { 0 };

	(void)state;
	assert_int_equal(add(&c, 5 * MS, 333), 333);
	assert_int_equal(add(&c, 1000 * MS, 1999), 1999);
}

static void short_interval_counts_with_the_one_before(void **state)
{
	struct cores c = { 0 };

	(void)state;
	assert_int_equal(add(&c, 96 * MS, 0), 0);
	assert_int_equal(add(&c, 100 * MS, 1000), 40);
}

static void short_interval_counts_with_the_next_too(void **state)
{
	struct cores c = { 0 };

	(void)state;
	add(&c, 96 * MS, 0);
	add(&c, 100 * MS, 1000);
	assert_int_equal(add(&c, 104 * MS, 0), 500);
	assert_int_equal(add(&c, 114 * MS, 700), 700);
}

static void of_a_run_that_just_began_nothing_is_known(void **state)
{
	struct cores c = { 0 };

	(void)state;
	assert_int_equal(add(&c, 0, 0), NONE);
	assert_int_equal(add(&c, 4 * MS, 900), NONE);
	assert_int_equal(add(&c, 8 * MS, 100), 500);
}

static void what_was_not_read_is_no_part_of_it(void **state)
{
	struct sample without = { .elapsed_ns = 200 * MS };
	struct cores c = { 0 };
	uint64_t milli;

	(void)state;
	add(&c, 100 * MS, 1000);
	assert_false(cores_add(&c, &without, &milli));
	assert_int_equal(add(&c, 201 * MS, 900), NONE);
	assert_int_equal(add(&c, 210 * MS, 900), 900);
}

static void samples_at_one_time_are_one(void **state)
{
	struct cores c = { 0 };

	(void)state;
	add(&c, 100 * MS, 1000);
	assert_int_equal(add(&c, 100 * MS, 5), NONE);
	assert_int_equal(add(&c, 50 * MS, 5), NONE);
	assert_int_equal(add(&c, 200 * MS, 7), 7);
}

/* As a drain that begins at the first and ends at the second time would find one busy core. */
struct drain {
	uint64_t begin_ns, end_ns, cpu_ns;
};

static uint64_t read_at(struct cores *m, const struct drain *d)
{
	uint64_t said;

	return cores_read(m, d->begin_ns, d->cpu_ns, &said) ? said : NONE;
}

static void drains_are_as_far_apart_as_their_begins(void **state)
{
	static const struct drain table[] = {
		{ 10 * MS, 11 * MS, 10 * MS },
		{ 20 * MS, 29 * MS, 20 * MS }, /* preempted when it had met the task */
		{ 30 * MS, 31 * MS, 30 * MS },
	};
	struct cores m = { 0 };

	(void)state;
	assert_int_equal(read_at(&m, &table[0]), 1000);
	assert_int_equal(read_at(&m, &table[1]), 1000);
	assert_int_equal(read_at(&m, &table[2]), 1000);
}

static void two_drains_in_a_row_are_no_burst(void **state)
{
	static const struct drain table[] = {
		{ 100 * MS, 101 * MS, 100 * MS },
		{ 101 * MS, 102 * MS, 104 * MS }, /* for a mark: a tick has passed */
		{ 111 * MS, 112 * MS, 108 * MS },
	};
	struct cores m = { 0 };

	(void)state;
	assert_int_equal(read_at(&m, &table[0]), 1000);
	assert_int_equal(read_at(&m, &table[1]), 1029);
	assert_int_equal(read_at(&m, &table[2]), 727);
}

static void the_first_milliseconds_of_a_run_are_all_there_is(void **state)
{
	static const struct drain table[] = {
		{ 0, MS, 0 },
		{ MS, MS, 3 * MS },
		{ 6 * MS, 7 * MS, 6 * MS },
	};
	struct cores m = { 0 };

	(void)state;
	assert_int_equal(read_at(&m, &table[0]), NONE);
	assert_int_equal(read_at(&m, &table[1]), 3000);
	assert_int_equal(read_at(&m, &table[2]), 1000);
}

static void no_time_has_more_than_the_cpus_there_are(void **state)
{
	static const struct drain table[] = {
		{ 10 * MS, 110 * MS, 220 * MS }, /* preempted before it had met the tasks */
		{ 110 * MS, 111 * MS, 221 * MS },
		{ 111 * MS, 112 * MS, 229 * MS },
	};
	struct cores c = { .cpus = 2 };

	(void)state;
	assert_int_equal(read_at(&c, &table[0]), 2000);
	assert_int_equal(read_at(&c, &table[1]), 10);
	assert_int_equal(read_at(&c, &table[2]), 89);
}

static void cores_over_a_long_time_come_from_totals_and_not_from_limited_samples(void **state)
{
	struct sample s = { .elapsed_ns = MS };
	struct cores c = { .cpus = 2 };
	uint64_t milli;

	(void)state;
	sample_set(&s, M_cores, 2000);
	sample_set(&s, M_cpu, 4 * MS); /* of a tick before */
	assert_false(cores_add(&c, &s, &milli));
	s.elapsed_ns = 10 * MS;
	sample_set(&s, M_cores, 0);
	assert_true(cores_add(&c, &s, &milli));
	assert_int_equal(milli, 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_intervals_are_as_they_were_read),
		cmocka_unit_test(short_interval_counts_with_the_one_before),
		cmocka_unit_test(short_interval_counts_with_the_next_too),
		cmocka_unit_test(of_a_run_that_just_began_nothing_is_known),
		cmocka_unit_test(what_was_not_read_is_no_part_of_it),
		cmocka_unit_test(samples_at_one_time_are_one),
		cmocka_unit_test(drains_are_as_far_apart_as_their_begins),
		cmocka_unit_test(two_drains_in_a_row_are_no_burst),
		cmocka_unit_test(the_first_milliseconds_of_a_run_are_all_there_is),
		cmocka_unit_test(no_time_has_more_than_the_cpus_there_are),
		cmocka_unit_test(
			cores_over_a_long_time_come_from_totals_and_not_from_limited_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
