// SPDX-License-Identifier: BSD-2-Clause
/* Spans by their paths, what they used together, and what is left of the run. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/span_sums.h"

#include <stdio.h>
#include <string.h>

static void add(struct span_paths *p, uint64_t id, uint64_t parent, const char *name)
{
	const struct span s = { .id = id, .parent = parent, .label.name = name };

	assert_int_equal(span_paths_add(p, &s), 0);
}

/* "NAME(...) NAME" of all paths; an orphan has a question mark. */
static void assert_paths(const struct span_paths *p, const char *expected)
{
	char text[400] = "";
	size_t n = 0;

	for (size_t at = NO_PATH; (at = span_paths_next(p, at)) != NO_PATH;)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%u%s%s ", p->all[at].depth,
				      p->all[at].is_orphan ? "?" : "", p->all[at].name);
	assert_string_equal(text, expected);
}

static void spans_of_the_same_names_all_the_way_up_share_a_path(void **state)
{
	struct span_paths p = { 0 };

	(void)state;
	add(&p, 4, 3, "cc"); /* as they end: the inner ones first */
	add(&p, 2, 1, "cc");
	add(&p, 6, 5, "cc");
	add(&p, 1, 0, "build");
	add(&p, 3, 0, "build");
	add(&p, 5, 0, "test");
	add(&p, 7, 0, "cc");
	assert_int_equal(span_paths_finish(&p, false), 0);
	assert_paths(&p, "0build 1cc 0test 1cc 0cc ");
	assert_int_equal(span_paths_find(&p, 2), span_paths_find(&p, 4));
	assert_int_not_equal(span_paths_find(&p, 2), span_paths_find(&p, 6));
	assert_int_equal(span_paths_find(&p, 8), NO_PATH);
	span_paths_done(&p);
}

static void each_span_can_have_a_path_of_its_own(void **state)
{
	struct span_paths p = { 0 };

	(void)state;
	add(&p, 2, 1, "a");
	add(&p, 3, 1, "a");
	add(&p, 1, 0, "a");
	assert_int_equal(span_paths_finish(&p, true), 0);
	assert_paths(&p, "0a 1a 1a ");
	span_paths_done(&p);
}

static void a_span_whose_parent_left_no_line_is_an_orphan_of_its_own_path(void **state)
{
	struct span_paths p = { 0 };

	(void)state;
	add(&p, 3, 1, "a");
	add(&p, 4, 3, "b");
	add(&p, 5, 0, "a");
	assert_int_equal(span_paths_finish(&p, false), 0);
	assert_paths(&p, "0?a 1b 0a ");
	span_paths_done(&p);
}

static void spans_that_are_in_themselves_or_in_each_other_end_all_the_same(void **state)
{
	struct span_paths p = { 0 };

	(void)state;
	add(&p, 1, 1, "a");
	add(&p, 2, 3, "b");
	add(&p, 3, 2, "c");
	add(&p, 3, UINT64_MAX, "d");
	add(&p, 0, 0, "e");
	assert_int_equal(span_paths_finish(&p, false), 0);
	assert_int_equal(p.nr, 5);
	span_paths_done(&p);
}

/* Paths of any one span each, with the CPU time and wall time of its number. */
static void assert_order(enum span_order order, const char *expected)
{
	struct span spans[] = { { .id = 2, .parent = 1, .label.name = "d" },
				{ .id = 3, .parent = 1, .label.name = "c" },
				{ .id = 1, .label.name = "b" },
				{ .id = 4, .label.name = "a" } };
	const uint64_t cpu[] = { 1, 2, 4, 3 }, wall[] = { 2, 1, 3, 4 }, peak[] = { 5, 6, 7, 8 };
	struct span_paths p = { 0 };
	struct span_sums sums;

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(span_paths_add(&p, &spans[i]), 0);
		sample_set(&spans[i].used.total, M_cpu, cpu[i]);
		spans[i].used.wall_ns = wall[i];
		spans[i].used.has_rss_peak = true;
		spans[i].used.rss_peak_bytes = peak[i];
	}
	assert_int_equal(span_paths_finish(&p, false), 0);
	assert_int_equal(span_sums_init(&sums, &p), 0);
	for (size_t i = 0; i < 4; i++)
		span_sums_add(&sums, &p, &spans[i]);
	assert_int_equal(span_paths_sort(&p, &sums, order, 0), 0);
	assert_paths(&p, expected);
	assert_int_equal(span_paths_sort(&p, &sums, order, 3), 1);
	span_sums_done(&sums);
	span_paths_done(&p);
}

static void paths_are_sorted_within_those_around_them(void **state)
{
	(void)state;
	assert_order(SPANS_BY_CPU, "0b 1c 1d 0a ");
	assert_order(SPANS_BY_WALL, "0a 0b 1d 1c ");
	assert_order(SPANS_BY_PEAK, "0a 0b 1c 1d ");
	assert_order(SPANS_BY_START, "0b 1d 1c 0a ");
	assert_order(SPANS_BY_NAME, "0a 0b 1c 1d ");
}

static void spans_that_are_too_deep_are_beside_their_parent(void **state)
{
	struct span_paths p = { 0 };

	(void)state;
	for (uint64_t id = 1; id <= 3 * MAX_SPAN_DEPTH; id++)
		add(&p, id, id - 1, "a");
	assert_int_equal(span_paths_finish(&p, false), 0);
	assert_int_equal(p.nr, MAX_SPAN_DEPTH);
	assert_int_equal(p.left_out, 0);
	assert_int_equal(p.all[p.nr - 1].depth, MAX_SPAN_DEPTH - 1);
	span_paths_done(&p);
}

static void paths_beyond_the_limit_are_counted(void **state)
{
	struct span_paths p = { 0 };
	char name[16];

	(void)state;
	for (uint64_t id = 1; id <= MAX_SPAN_PATHS + 3; id++) {
		snprintf(name, sizeof(name), "%lu", (unsigned long)id);
		add(&p, id, 0, name);
	}
	add(&p, MAX_SPAN_PATHS + 4, 0, "7");
	assert_int_equal(span_paths_finish(&p, false), 0);
	assert_int_equal(p.nr, MAX_SPAN_PATHS);
	assert_int_equal(p.left_out, 3);
	assert_int_equal(span_paths_find(&p, MAX_SPAN_PATHS + 4), span_paths_find(&p, 7));
	span_paths_done(&p);
}

static void no_spans_are_no_paths(void **state)
{
	struct span_paths p = { 0 };

	(void)state;
	assert_int_equal(span_paths_finish(&p, false), 0);
	assert_int_equal(span_paths_next(&p, NO_PATH), NO_PATH);
	span_paths_done(&p);
}

static struct span used(uint64_t id, uint64_t parent, uint64_t cpu_ns, uint64_t peak, int code)
{
	struct span s = { .id = id, .parent = parent, .label.name = "a", .end_epoch_ns = 1 };

	s.used.complete = s.used.has_status = s.used.has_rss_peak = true;
	s.used.exit_code = code;
	s.used.rss_peak_bytes = peak;
	s.used.processes_total = 2;
	sample_set(&s.used.total, M_cpu, cpu_ns);
	return s;
}

static void assert_amount(const struct span_amount *a, size_t nr, uint64_t sum, uint64_t least,
			  uint64_t most)
{
	assert_int_equal(a->nr, nr);
	assert_int_equal(a->sum, sum);
	assert_int_equal(a->least, least);
	assert_int_equal(a->most, most);
}

static void sums_and_the_rest_are_the_run_to_the_nanosecond(void **state)
{
	const struct span spans[] = { used(2, 1, 3, 5, 0), used(1, 0, 1000000007, 9, 0),
				      used(3, 0, 500000001, 7, 4), used(4, 0, 2, 1, 0) };
	struct summary run = { .processes_total = 10 };
	struct span_paths p = { 0 };
	struct span_sums sums;
	uint64_t rest = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(span_paths_add(&p, &spans[i]), 0);
	assert_int_equal(span_paths_finish(&p, false), 0);
	assert_int_equal(span_sums_init(&sums, &p), 0);
	for (int i = 0; i < 4; i++)
		span_sums_add(&sums, &p, &spans[i]);
	sample_set(&run.total, M_cpu, 2000000011);
	assert_int_equal(sums.of[0].nr, 3);
	assert_int_equal(sums.of[0].failed, 1);
	assert_amount(&sums.of[0].amount[SPAN_CPU], 3, 1500000010, 2, 1000000007);
	assert_amount(&sums.of[0].amount[SPAN_PEAK], 3, 17, 1, 9);
	assert_amount(&sums.of[1].amount[SPAN_CPU], 1, 3, 3, 3);
	assert_true(span_sums_rest(&sums, &run, SPAN_CPU, &rest));
	assert_int_equal(rest, 2000000011 - 1500000010);
	assert_true(span_sums_rest(&sums, &run, SPAN_PROCESSES, &rest));
	assert_int_equal(rest, 4);
	assert_false(span_sums_rest(&sums, &run, SPAN_PEAK, &rest));
	assert_false(span_sums_rest(&sums, &run, SPAN_READ, &rest));
	span_sums_done(&sums);
	span_paths_done(&p);
}

static void a_rest_is_not_known_where_a_span_lacks_the_value(void **state)
{
	struct span spans[] = { used(1, 0, 1, 1, 0), used(2, 0, 1, 1, 0) };
	struct span_paths p = { 0 };
	struct summary run = { 0 };
	struct span_sums sums;
	uint64_t rest;

	(void)state;
	sample_set(&spans[0].used.total, M_read, 5);
	sample_set(&run.total, M_read, 7);
	for (int i = 0; i < 2; i++)
		assert_int_equal(span_paths_add(&p, &spans[i]), 0);
	assert_int_equal(span_paths_finish(&p, false), 0);
	assert_int_equal(span_sums_init(&sums, &p), 0);
	span_sums_add(&sums, &p, &spans[0]);
	assert_true(span_sums_rest(&sums, &run, SPAN_READ, &rest));
	span_sums_add(&sums, &p, &spans[1]);
	assert_false(span_sums_rest(&sums, &run, SPAN_READ, &rest));
	span_sums_done(&sums);
	span_paths_done(&p);
}

/* It is in each of them, and was born in none. */
static void process_that_begins_spans_in_place_is_part_of_the_rest(void **state)
{
	struct span spans[] = { used(1, 0, 1, 1, 0), used(2, 0, 1, 1, 0), used(3, 0, 1, 1, 0) };
	struct summary run = { .processes_total = 2 };
	struct span_paths p = { 0 };
	struct span_sums sums;
	uint64_t rest = 0;

	(void)state;
	spans[0].in_place = spans[1].in_place = true;
	for (int i = 0; i < 3; i++) {
		spans[i].used.processes_total = 1;
		assert_int_equal(span_paths_add(&p, &spans[i]), 0);
	}
	assert_int_equal(span_paths_finish(&p, false), 0);
	assert_int_equal(span_sums_init(&sums, &p), 0);
	for (int i = 0; i < 3; i++)
		span_sums_add(&sums, &p, &spans[i]);
	assert_true(span_sums_rest(&sums, &run, SPAN_PROCESSES, &rest));
	assert_int_equal(rest, 1);
	run.processes_total = 0; /* it has lost the births of some */
	assert_false(span_sums_rest(&sums, &run, SPAN_PROCESSES, &rest));
	span_sums_done(&sums);
	span_paths_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_of_the_same_names_all_the_way_up_share_a_path),
		cmocka_unit_test(each_span_can_have_a_path_of_its_own),
		cmocka_unit_test(a_span_whose_parent_left_no_line_is_an_orphan_of_its_own_path),
		cmocka_unit_test(spans_that_are_in_themselves_or_in_each_other_end_all_the_same),
		cmocka_unit_test(paths_are_sorted_within_those_around_them),
		cmocka_unit_test(spans_that_are_too_deep_are_beside_their_parent),
		cmocka_unit_test(paths_beyond_the_limit_are_counted),
		cmocka_unit_test(no_spans_are_no_paths),
		cmocka_unit_test(sums_and_the_rest_are_the_run_to_the_nanosecond),
		cmocka_unit_test(a_rest_is_not_known_where_a_span_lacks_the_value),
		cmocka_unit_test(process_that_begins_spans_in_place_is_part_of_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
