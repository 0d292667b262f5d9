// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "run/time_parts.h"
#include "text/summary_lines.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000ULL

/* 10 s of threads, of which 2 s were user, 1 s system time, and 1 s was waited for a CPU. */
static struct sample plain(void)
{
	struct sample s = { 0 };

	sample_set(&s, M_lifetime, 10000 * MS);
	sample_set(&s, M_user, 2000 * MS);
	sample_set(&s, M_system, 1000 * MS);
	sample_set(&s, M_runqueue_wait, 1000 * MS);
	return s;
}

/* The same, with 3 s of waiting for the disk. */
static struct sample delayed(void)
{
	struct sample s = plain();

	sample_set(&s, M_blkio_delay, 3000 * MS);
	sample_set(&s, M_swapin_delay, 0);
	sample_set(&s, M_reclaim_delay, 0);
	sample_set(&s, M_thrashing_delay, 0);
	sample_set(&s, M_compact_delay, 0);
	sample_set(&s, M_cow_delay, 0);
	return s;
}

/* The parts in milliseconds. */
static void assert_parts(const struct sample *s, const uint64_t ms[NR_TIME_PARTS])
{
	struct time_parts t;
	uint64_t sum = 0;

	assert_true(time_parts_of(&t, s));
	for (int i = 0; i < NR_TIME_PARTS; i++) {
		assert_int_equal(t.ns[i], ms[i] * MS);
		sum += t.ns[i];
	}
	assert_int_equal(sum, t.total_ns);
}

static void assert_text(const struct sample *s, size_t width, const char *expected)
{
	__cleanup(freep) char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	assert_non_null(f);
	time_text(f, s, width);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, expected);
}

static void what_is_known_of_no_moment_is_the_rest(void **state)
{
	const uint64_t without[NR_TIME_PARTS] = { 2000, 1000, 1000, 0, 0, 0, 6000 };
	const uint64_t with[NR_TIME_PARTS] = { 2000, 1000, 1000, 3000, 0, 0, 3000 };
	struct sample s = plain();

	(void)state;
	assert_parts(&s, without);
	s = delayed();
	assert_parts(&s, with);
}

static void reading_dropped_pages_again_is_memory_and_not_disk(void **state)
{
	const uint64_t expected[NR_TIME_PARTS] = { 2000, 1000, 1000, 2200, 800, 0, 3000 };
	struct sample s = delayed();

	(void)state;
	sample_set(&s, M_thrashing_delay, 800 * MS);
	sample_set(&s, M_swapin_delay, 500 * MS); /* may be in it */
	assert_parts(&s, expected);
}

static void freeing_and_copying_pages_is_memory_and_not_system_time(void **state)
{
	const uint64_t expected[NR_TIME_PARTS] = { 2000, 300, 1000, 3000, 700, 0, 3000 };
	struct sample s = delayed();

	(void)state;
	sample_set(&s, M_reclaim_delay, 400 * MS);
	sample_set(&s, M_compact_delay, 300 * MS);
	sample_set(&s, M_cow_delay, 600 * MS); /* these may be in it */
	assert_parts(&s, expected);
}

static void memory_takes_what_is_left_and_no_more(void **state)
{
	const uint64_t expected[NR_TIME_PARTS] = { 2000, 0, 1000, 0, 7000, 0, 0 };
	struct sample s = delayed();

	(void)state;
	sample_set(&s, M_thrashing_delay, 3500 * MS);
	sample_set(&s, M_reclaim_delay, 9000 * MS);
	assert_parts(&s, expected);
}

static void time_of_interrupts_is_a_part_where_it_is_kept(void **state)
{
	const uint64_t expected[NR_TIME_PARTS] = { 2000, 1000, 1000, 3000, 0, 500, 2500 };
	struct sample s = delayed();

	(void)state;
	sample_set(&s, M_irq_delay, 500 * MS);
	assert_parts(&s, expected);
}

static void what_was_used_after_an_exit_makes_the_total_larger(void **state)
{
	const uint64_t expected[NR_TIME_PARTS] = { 2000, 1000, 1000, 0, 0, 0, 0 };
	struct sample s = plain();

	(void)state;
	sample_set(&s, M_lifetime, 3900 * MS);
	assert_parts(&s, expected);
}

static void without_lifetimes_there_are_no_parts(void **state)
{
	struct sample s = plain();
	struct time_parts t;

	(void)state;
	sample_set(&s, M_lifetime, 0);
	assert_false(time_parts_of(&t, &s));
	s = (struct sample){ 0 };
	sample_set(&s, M_lifetime, MS);
	assert_false(time_parts_of(&t, &s));
	assert_text(&s, 80, "");
}

static void shares_are_rounded_so_that_none_is_missing(void **state)
{
	struct time_parts t = { .total_ns = 3, .ns = { 1, 1, 1 } };
	unsigned share[NR_TIME_PARTS];
	const unsigned expected[NR_TIME_PARTS] = { 34, 33, 33 };

	(void)state;
	time_parts_divide(&t, 100, share);
	assert_memory_equal(share, expected, sizeof(share));
	t = (struct time_parts){ .total_ns = 1000, .ns = { 994, 6 } };
	time_parts_divide(&t, 100, share);
	assert_int_equal(share[TIME_USER], 99);
	assert_int_equal(share[TIME_SYSTEM], 1);
}

static void bar_says_what_it_knows(void **state)
{
	struct sample s = delayed();

	(void)state;
	assert_text(&s, 0,
		    "  time        uuuuuuuuuusssssqqqqqddddddddddddddd...............\n"
		    "              u user 2.00 s (20 %), s system 1.00 s (10 %), "
		    "q run queue 1.00 s (10 %), d disk 3.00 s (30 %), . other 3.00 s (30 %), "
		    "all threads 10.0 s\n");
	s = plain();
	assert_text(&s, 80,
		    "  time        uuuuuuuuuusssssqqqqq..............................\n"
		    "              u user 2.00 s (20 %), s system 1.00 s (10 %),\n"
		    "              q run queue 1.00 s (10 %), . not running 6.00 s (60 %),\n"
		    "              all threads 10.0 s\n");
}

static void bar_fits_into_a_narrow_terminal(void **state)
{
	struct sample s = plain();

	(void)state;
	assert_text(&s, 44,
		    "  time        uuuuuusssqqq..................\n"
		    "              u user 2.00 s (20 %),\n"
		    "              s system 1.00 s (10 %),\n"
		    "              q run queue 1.00 s (10 %),\n"
		    "              . not running 6.00 s (60 %),\n"
		    "              all threads 10.0 s\n");
}

/* The shares are of all threads, and add up to the time in which they did not run. */
static void reasons_to_wait_add_up_to_the_rest(void **state)
{
	struct sample s = plain();

	(void)state;
	sample_set(&s, M_wait_child, 4000 * MS);
	sample_set(&s, M_wait_pipe, 1333 * MS);
	sample_set(&s, M_wait_unseen, 667 * MS);
	sample_set(&s, M_wait_disk, 0);
	assert_text(&s, 0,
		    "  time        uuuuuuuuuusssssqqqqq..............................\n"
		    "              u user 2.00 s (20 %), s system 1.00 s (10 %), "
		    "q run queue 1.00 s (10 %), . not running 6.00 s (60 %), "
		    "all threads 10.0 s\n"
		    "  not running child 40 %, pipe 13 %, not seen 7 %\n");
	sample_set(&s, M_wait_unseen, 4667 * MS); /* last, however much it is */
	assert_text(&s, 44,
		    "  time        uuuuuusssqqq..................\n"
		    "              u user 2.00 s (20 %),\n"
		    "              s system 1.00 s (10 %),\n"
		    "              q run queue 1.00 s (10 %),\n"
		    "              . not running 6.00 s (60 %),\n"
		    "              all threads 10.0 s\n"
		    "  not running child 24 %, pipe 8 %,\n"
		    "              not seen 28 %\n");
}

static void json_has_only_parts_that_are_known(void **state)
{
	struct sample s = plain();
	struct jsonw j = { 0 };

	(void)state;
	jsonw_object(&j, NULL);
	time_json(&j, &s);
	s = delayed();
	time_json(&j, &s);
	jsonw_object_end(&j);
	assert_int_equal(
		strncmp(j.text,
			"{\"time\":{\"user_seconds\":2,\"system_seconds\":1,\"queue_seconds\":1,"
			"\"not_running_seconds\":6},"
			"\"time\":{\"user_seconds\":2,\"system_seconds\":1,\"queue_seconds\":1,"
			"\"disk_seconds\":3,\"memory_seconds\":0,\"other_seconds\":3}}",
			j.used),
		0);
	jsonw_done(&j);
}

static void pages_read_again_are_no_system_time_where_waits_for_disks_are_not_known(void **state)
{
	struct sample s = plain();

	(void)state;
	sample_set(&s, M_thrashing_delay, 3000 * MS);
	assert_parts(&s, (uint64_t[]){ 2000, 1000, 1000, 0, 3000, 0, 3000 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_of_no_moment_is_the_rest),
		cmocka_unit_test(reading_dropped_pages_again_is_memory_and_not_disk),
		cmocka_unit_test(freeing_and_copying_pages_is_memory_and_not_system_time),
		cmocka_unit_test(memory_takes_what_is_left_and_no_more),
		cmocka_unit_test(
			pages_read_again_are_no_system_time_where_waits_for_disks_are_not_known),
		cmocka_unit_test(time_of_interrupts_is_a_part_where_it_is_kept),
		cmocka_unit_test(what_was_used_after_an_exit_makes_the_total_larger),
		cmocka_unit_test(without_lifetimes_there_are_no_parts),
		cmocka_unit_test(shares_are_rounded_so_that_none_is_missing),
		cmocka_unit_test(bar_says_what_it_knows),
		cmocka_unit_test(reasons_to_wait_add_up_to_the_rest),
		cmocka_unit_test(bar_fits_into_a_narrow_terminal),
		cmocka_unit_test(json_has_only_parts_that_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
