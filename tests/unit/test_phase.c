// SPDX-License-Identifier: BSD-2-Clause
/* Samples and marks folded into phases. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/phase.h"

#include <string.h>

#define SECOND 1000000000ULL
#define MS 1000000ULL

static void mark(struct phases *p, const char *text, uint64_t elapsed_ns)
{
	assert_int_equal(phases_add_mark(p, text, strlen(text), elapsed_ns), 0);
}

static void sample(struct phases *p, uint64_t elapsed_ns, uint64_t cpu, uint64_t rss)
{
	struct sample s = { .elapsed_ns = elapsed_ns };

	sample_set(&s, M_cpu, cpu);
	sample_set(&s, M_rss, rss);
	phases_add_sample(p, &s);
}

static void assert_phase(const struct phase *ph, const char *text, uint64_t start, uint64_t end,
			 uint64_t cpu, uint64_t rss)
{
	assert_int_equal(ph->text == NULL, text == NULL);
	if (text)
		assert_string_equal(ph->text, text);
	assert_int_equal(ph->start_ns, start);
	assert_int_equal(ph->end_ns, end);
	assert_int_equal(ph->value[M_cpu], cpu);
	assert_int_equal(ph->value[M_rss], rss);
}

static void assert_shared(const struct phases *p, size_t i, size_t with)
{
	assert_true(p->all[i].is_shared);
	assert_int_equal(p->all[i].shared_with, with);
	assert_false(metric_has(&p->all[i].have, M_cpu));
	assert_false(metric_has(&p->all[i].have, M_rss));
}

static void a_run_without_marks_is_one_phase_without_a_name(void **state)
{
	struct phases p = { 0 };

	(void)state;
	sample(&p, 0, 5, 10);
	sample(&p, SECOND, 100, 7);
	phases_finish(&p, SECOND);
	assert_int_equal(p.nr, 1);
	assert_phase(&p.all[0], NULL, 0, SECOND, 100, 10);
	assert_int_equal(p.all[0].samples, 2);
	phases_done(&p);
}

static void each_phase_has_what_was_used_from_its_mark_to_the_next(void **state)
{
	struct phases p = { 0 };

	(void)state;
	mark(&p, "load", 10);
	mark(&p, "train", 20);
	sample(&p, 0, 1, 5);
	sample(&p, 10, 4, 6);
	sample(&p, 15, 9, 90);
	sample(&p, 20, 14, 8);
	sample(&p, 30, 44, 50);
	phases_finish(&p, 30);
	assert_int_equal(p.nr, 3);
	assert_phase(&p.all[0], NULL, 0, 10, 4, 6);
	assert_phase(&p.all[1], "load", 10, 20, 10, 90);
	assert_phase(&p.all[2], "train", 20, 30, 30, 50);
	phases_done(&p);
}

static void the_parts_add_up_to_the_whole(void **state)
{
	struct phases p = { 0 };
	uint64_t sum = 0;

	(void)state;
	for (uint64_t i = 1; i < 50; i++)
		mark(&p, "x", i * 7);
	for (uint64_t i = 0; i <= 400; i += 3)
		sample(&p, i, i * i, 1);
	phases_finish(&p, 400);
	for (size_t i = 0; i < p.nr; i++)
		sum += p.all[i].value[M_cpu];
	assert_int_equal(p.nr, 50);
	assert_int_equal(sum, 399 * 399);
	phases_done(&p);
}

static void a_mark_between_samples_counts_from_the_next_one(void **state)
{
	struct phases p = { 0 };

	(void)state;
	mark(&p, "a", 5);
	sample(&p, 0, 0, 1);
	sample(&p, 8, 70, 2);
	sample(&p, 20, 100, 1);
	phases_finish(&p, 20);
	assert_phase(&p.all[0], NULL, 0, 5, 70, 2);
	assert_phase(&p.all[1], "a", 5, 20, 30, 2);
	phases_done(&p);
}

static void of_marks_that_share_a_sample_the_last_has_what_follows(void **state)
{
	struct phases p = { 0 };

	(void)state;
	mark(&p, "a", 5);
	mark(&p, "b", 6);
	sample(&p, 0, 0, 1);
	sample(&p, 8, 70, 2);
	sample(&p, 20, 100, 1);
	phases_finish(&p, 20);
	assert_phase(&p.all[0], NULL, 0, 5, 70, 2);
	assert_shared(&p, 1, 0);
	assert_phase(&p.all[2], "b", 6, 20, 30, 2);
	assert_int_equal(p.all[0].nr_shared, 2);
	phases_done(&p);
}

/* 100 marks a second, a sample for them each 50 ms, one core busy. */
static void phases_that_are_shorter_than_what_their_samples_lag_behind_share(void **state)
{
	struct phases p = { 0 };
	uint64_t sum = 0;

	(void)state;
	for (uint64_t i = 1; i < 100; i++)
		mark(&p, "m", i * 10 * MS);
	for (uint64_t at = 3 * MS; at < SECOND; at += 50 * MS)
		sample(&p, at, at, 1);
	sample(&p, SECOND, SECOND, 1);
	phases_finish(&p, SECOND);
	for (size_t i = 0; i < p.nr; i += p.all[i].nr_shared) {
		uint64_t took = p.all[i + p.all[i].nr_shared - 1].end_ns - p.all[i].start_ns;

		assert_in_range(p.all[i].value[M_cpu], took - took / 10, took + took / 10);
		sum += p.all[i].value[M_cpu];
		for (size_t k = 1; k < p.all[i].nr_shared; k++)
			assert_shared(&p, i + k, i);
	}
	assert_int_equal(sum, SECOND);
	assert_in_range(p.all[0].nr_shared, 2, 30);
	phases_done(&p);
}

static void a_mark_whose_sample_was_late_shares_with_the_phase_before(void **state)
{
	struct phases p = { 0 };

	(void)state;
	mark(&p, "a", 100 * MS);
	mark(&p, "b", 130 * MS);
	sample(&p, 0, 0, 1);
	sample(&p, 100 * MS, 100 * MS, 1);
	sample(&p, 150 * MS, 150 * MS, 1);
	sample(&p, SECOND, SECOND, 1);
	phases_finish(&p, SECOND);
	assert_phase(&p.all[0], NULL, 0, 100 * MS, 100 * MS, 1);
	assert_phase(&p.all[1], "a", 100 * MS, 130 * MS, 900 * MS, 1);
	assert_shared(&p, 2, 1);
	phases_done(&p);
}

static void a_small_lag_behind_a_long_phase_keeps_phases_apart(void **state)
{
	struct phases p = { 0 };

	(void)state;
	mark(&p, "a", 500 * MS);
	sample(&p, 520 * MS, 520 * MS, 1);
	sample(&p, SECOND, SECOND, 1);
	phases_finish(&p, SECOND);
	assert_phase(&p.all[0], NULL, 0, 500 * MS, 520 * MS, 1);
	assert_phase(&p.all[1], "a", 500 * MS, SECOND, 480 * MS, 1);
	phases_done(&p);
}

static void a_last_phase_without_a_sample_of_its_own_shares_with_those_before(void **state)
{
	struct phases p = { 0 };

	(void)state;
	mark(&p, "a", 100 * MS);
	mark(&p, "b", 110 * MS);
	mark(&p, "c", 960 * MS);
	sample(&p, 112 * MS, 112 * MS, 1);
	sample(&p, 990 * MS, 990 * MS, 5);
	sample(&p, SECOND, SECOND, 1);
	phases_finish(&p, SECOND);
	assert_phase(&p.all[0], NULL, 0, 100 * MS, 112 * MS, 1);
	assert_int_equal(p.all[0].nr_shared, 2);
	assert_phase(&p.all[2], "b", 110 * MS, 960 * MS, 888 * MS, 5);
	assert_int_equal(p.all[2].nr_shared, 2);
	assert_shared(&p, 3, 2);
	phases_done(&p);
}

static void marks_are_put_in_the_order_of_time(void **state)
{
	struct phases p = { 0 };

	(void)state;
	mark(&p, "late", 50);
	mark(&p, "early", 10);
	mark(&p, "early too", 10);
	phases_finish(&p, 60);
	assert_string_equal(p.all[1].text, "early");
	assert_string_equal(p.all[2].text, "early too");
	assert_string_equal(p.all[3].text, "late");
	phases_done(&p);
}

static void a_phase_without_a_sample_has_no_values(void **state)
{
	struct phases p = { 0 };

	(void)state;
	sample(&p, 0, 1, 1);
	phases_done(&p);
	mark(&p, "end", 100);
	sample(&p, 0, 1, 1);
	phases_finish(&p, 90);
	assert_false(metric_has(&p.all[1].have, M_cpu));
	assert_false(metric_has(&p.all[1].have, M_rss));
	assert_int_equal(p.all[1].start_ns, 100);
	assert_int_equal(p.all[1].end_ns, 100);
	phases_done(&p);
}

static void a_value_that_was_not_read_at_the_mark_is_absent_in_the_phase(void **state)
{
	struct phases p = { 0 };
	struct sample s = { .elapsed_ns = 10 };

	(void)state;
	mark(&p, "a", 10);
	sample(&p, 0, 1, 1);
	sample_set(&s, M_rss, 4);
	phases_add_sample(&p, &s);
	sample(&p, 20, 30, 9);
	phases_finish(&p, 20);
	assert_false(metric_has(&p.all[1].have, M_cpu));
	assert_int_equal(p.all[1].value[M_rss], 9);
	phases_done(&p);
}

static void a_zero_byte_does_not_end_a_name(void **state)
{
	struct phases p = { 0 };

	(void)state;
	assert_int_equal(phases_add_mark(&p, "a\0b", 3, 1), 0);
	phases_finish(&p, 2);
	assert_string_equal(p.all[1].text, "a?b");
	phases_done(&p);
}

static void too_many_marks_are_counted(void **state)
{
	struct phases p = { 0 };

	(void)state;
	for (uint64_t i = 0; i < MAX_PHASES; i++)
		mark(&p, "m", i);
	assert_int_not_equal(phases_add_mark(&p, "m", 1, 1), 0);
	assert_int_equal(p.left_out, 1);
	phases_finish(&p, 2);
	assert_int_equal(p.nr, MAX_PHASES + 1);
	phases_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_without_marks_is_one_phase_without_a_name),
		cmocka_unit_test(each_phase_has_what_was_used_from_its_mark_to_the_next),
		cmocka_unit_test(the_parts_add_up_to_the_whole),
		cmocka_unit_test(a_mark_between_samples_counts_from_the_next_one),
		cmocka_unit_test(of_marks_that_share_a_sample_the_last_has_what_follows),
		cmocka_unit_test(phases_that_are_shorter_than_what_their_samples_lag_behind_share),
		cmocka_unit_test(a_mark_whose_sample_was_late_shares_with_the_phase_before),
		cmocka_unit_test(a_small_lag_behind_a_long_phase_keeps_phases_apart),
		cmocka_unit_test(a_last_phase_without_a_sample_of_its_own_shares_with_those_before),
		cmocka_unit_test(marks_are_put_in_the_order_of_time),
		cmocka_unit_test(a_phase_without_a_sample_has_no_values),
		cmocka_unit_test(a_value_that_was_not_read_at_the_mark_is_absent_in_the_phase),
		cmocka_unit_test(a_zero_byte_does_not_end_a_name),
		cmocka_unit_test(too_many_marks_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
