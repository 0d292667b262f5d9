// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/sample.h"

#include <string.h>

static void value_that_was_not_read_is_absent(void **state)
{
	struct sample s = { 0 };

	(void)state;
	assert_false(sample_has(&s, M_rss));
}

static void value_of_zero_is_there(void **state)
{
	struct sample s = { 0 };

	(void)state;
	sample_set(&s, M_rss, 0);
	assert_true(sample_has(&s, M_rss));
	assert_false(sample_has(&s, M_swap));
}

static void last_metric_has_a_place_of_its_own(void **state)
{
	enum metric_id last = (enum metric_id)(NR_METRICS - 1);
	struct sample s = { 0 };

	(void)state;
	sample_set(&s, last, 5);
	assert_true(sample_has(&s, last));
	assert_false(sample_has(&s, (enum metric_id)(last - 1)));
	assert_int_equal(s.value[last], 5);
}

static void instances_keep_their_order_and_names(void **state)
{
	struct sample s = { 0 };

	(void)state;
	assert_non_null(sample_add_instance(&s, "core", "0"));
	assert_non_null(sample_add_instance(&s, "core", "1"));
	assert_int_equal(s.nr_instances, 2);
	assert_string_equal(s.instances[0].name, "0");
	assert_string_equal(s.instances[1].name, "1");
	assert_false(metric_has(&s.instances[1].have, M_cpu));
	sample_reset(&s);
}

static void name_of_an_instance_is_cut_to_its_room(void **state)
{
	char name[2 * INSTANCE_BYTES] = "";
	struct sample s = { 0 };
	struct instance *i;

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	i = sample_add_instance(&s, "cgroup", name);
	assert_int_equal(strlen(i->name), sizeof(i->name) - 1);
	sample_reset(&s);
}

static void reset_forgets_values_and_instances(void **state)
{
	struct sample s = { .elapsed_ns = 9 };

	(void)state;
	sample_set(&s, M_cpu, 1);
	sample_add_instance(&s, "core", "0");
	sample_reset(&s);
	assert_false(sample_has(&s, M_cpu));
	assert_int_equal(s.elapsed_ns, 0);
	assert_int_equal(s.nr_instances, 0);
	assert_null(s.instances);
}

static void sample_of_two_has_the_later_counters_and_the_larger_gauges(void **state)
{
	struct sample s = { 0 }, later = { .elapsed_ns = 2 };

	(void)state;
	s.elapsed_ns = 1;
	sample_set(&s, M_cpu, 5);
	sample_set(&s, M_rss, 9);
	sample_set(&later, M_cpu, 7);
	sample_set(&later, M_rss, 3);
	sample_set(&later, M_processes, 0);
	sample_cover(&s, &later);
	assert_int_equal(s.elapsed_ns, 2);
	assert_int_equal(s.value[M_cpu], 7);
	assert_int_equal(s.value[M_rss], 9);
	assert_true(sample_has(&s, M_processes));
	assert_false(sample_has(&s, M_swap));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(value_that_was_not_read_is_absent),
		cmocka_unit_test(value_of_zero_is_there),
		cmocka_unit_test(last_metric_has_a_place_of_its_own),
		cmocka_unit_test(instances_keep_their_order_and_names),
		cmocka_unit_test(name_of_an_instance_is_cut_to_its_room),
		cmocka_unit_test(reset_forgets_values_and_instances),
		cmocka_unit_test(sample_of_two_has_the_later_counters_and_the_larger_gauges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
