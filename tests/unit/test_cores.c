// SPDX-License-Identifier: BSD-2-Clause
/* Cores in use over a time that is long enough to tell. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/cores.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_intervals_are_as_they_were_read),
		cmocka_unit_test(short_interval_counts_with_the_one_before),
		cmocka_unit_test(short_interval_counts_with_the_next_too),
		cmocka_unit_test(of_a_run_that_just_began_nothing_is_known),
		cmocka_unit_test(what_was_not_read_is_no_part_of_it),
		cmocka_unit_test(samples_at_one_time_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
