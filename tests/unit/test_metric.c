// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/metric.h"

#include <errno.h>
#include <string.h>

/* The rules are for every row: the loops are here, and tell which row broke one. */
#define each_metric(m)                                                                             \
	for (const struct metric *m = metric_get(0), *m##_end = m + NR_METRICS; m < m##_end; m++)

static size_t count(const struct metric_set *set)
{
	size_t n = 0;

	for (int i = 0; i < NR_METRICS; i++)
		n += metric_has(set, (enum metric_id)i);
	return n;
}

static bool ends_with(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);

	return n > m && !strcmp(text + n - m, suffix);
}

static void assert_refused(const char *list, const char *bad_name)
{
	struct metric_set set = { { 0x5a } };
	const char *bad = NULL;
	size_t length = 99;

	assert_int_equal(metric_set_parse(&set, list, &bad, &length), -EINVAL);
	assert_int_equal(length, strlen(bad_name));
	assert_memory_equal(bad, bad_name, length);
	assert_int_equal(set.bits[0], 0x5a); /* as it was */
}

static void keys_are_unique(void **state)
{
	(void)state;
	each_metric(a) each_metric(b) assert_true(a == b || strcmp(a->key, b->key) != 0);
}

static void keys_have_small_letters_digits_and_underscores(void **state)
{
	(void)state;
	each_metric(m)
	{
		assert_int_equal(strspn(m->key, "abcdefghijklmnopqrstuvwxyz0123456789_"),
				 strlen(m->key));
		assert_in_range(m->key[0], 'a', 'z');
	}
}

static void help_fits_sixty_columns(void **state)
{
	(void)state;
	each_metric(m) assert_in_range(strlen(m->help), 1, 60);
}

static void help_has_no_full_stop(void **state)
{
	(void)state;
	each_metric(m) assert_false(ends_with(m->help, "."));
}

static void keys_end_in_their_unit(void **state)
{
	(void)state;
	each_metric(m)
	{
		assert_int_equal(ends_with(m->key, "_seconds"), m->unit == UNIT_NS);
		assert_int_equal(ends_with(m->key, "_bytes"), m->unit == UNIT_BYTES);
	}
}

static void metrics_of_a_task_name_their_field(void **state)
{
	(void)state;
	each_metric(m)
		assert_int_equal(!!m->field, m->source == SOURCE_TASK || m->source == SOURCE_DELAY);
}

static void every_key_is_found(void **state)
{
	enum metric_id id;

	(void)state;
	each_metric(m)
	{
		assert_int_equal(metric_find(m->key, strlen(m->key), &id), 0);
		assert_ptr_equal(metric_get(id), m);
	}
}

static void beginning_of_a_key_is_not_found(void **state)
{
	enum metric_id id;

	(void)state;
	assert_int_equal(metric_find("cpu_second", 10, &id), -ENOENT);
	assert_int_equal(metric_find("cpu_seconds", 10, &id), -ENOENT);
	assert_int_equal(metric_find("", 0, &id), -ENOENT);
}

static void no_group_is_also_a_key(void **state)
{
	(void)state;
	for (int g = 0; g < NR_GROUPS; g++)
		each_metric(m)
			assert_string_not_equal(m->key, metric_group_name((enum metric_group)g));
}

static void groups_are_all_that_costs_no_time(void **state)
{
	struct metric_set set, usual;
	const char *bad;
	size_t length, sum = 0;

	(void)state;
	for (int g = 0; g < NR_GROUPS; g++) {
		const char *name = metric_group_name((enum metric_group)g);

		assert_int_equal(metric_set_parse(&set, name, &bad, &length), 0);
		assert_int_not_equal(count(&set), 0);
		sum += count(&set);
	}
	metric_set_all(&usual);
	metric_set_clear_source(&usual, SOURCE_PROCFS);
	assert_int_equal(sum, count(&usual));
}

static void set_of_all_has_each_metric(void **state)
{
	struct metric_set set;

	(void)state;
	metric_set_all(&set);
	assert_int_equal(count(&set), NR_METRICS);
}

static void metrics_that_are_not_usual_are_there_when_they_are_put(void **state)
{
	struct metric_set set, all;

	(void)state;
	metric_set_default(&set);
	assert_false(metric_set_has_source(&set, SOURCE_PROCFS));
	assert_false(metric_set_has_source(&set, SOURCE_NET));
	assert_false(metric_set_has_source(&set, SOURCE_KINDS));
	assert_true(metric_set_has_source(&set, SOURCE_MEMORY));
	assert_false(metric_set_has_source(&set, SOURCE_CGROUP));
	assert_false(metric_set_has_source(&set, SOURCE_DELAY));
	metric_set_put_source(&set, SOURCE_PROCFS);
	metric_set_put_source(&set, SOURCE_NET);
	metric_set_put_source(&set, SOURCE_KINDS);
	metric_set_put_source(&set, SOURCE_WIRE);
	metric_set_put_source(&set, SOURCE_BLOCK);
	metric_set_put_source(&set, SOURCE_CGROUP);
	metric_set_put_source(&set, SOURCE_DELAY);
	metric_set_all(&all);
	assert_memory_equal(&set, &all, sizeof(all));
}

static void groups_and_keys_mix_in_a_list(void **state)
{
	struct metric_set io, set;
	const char *bad;
	size_t length;

	(void)state;
	assert_int_equal(metric_set_parse(&io, "io", &bad, &length), 0);
	assert_int_equal(metric_set_parse(&set, "rss_bytes,io,rss_bytes,syscr", &bad, &length), 0);
	assert_int_equal(count(&set), count(&io) + 1);
	assert_true(metric_has(&set, M_rss));
	assert_true(metric_has(&set, M_cancelled_write));
	assert_false(metric_has(&set, M_cpu));
}

static void unknown_names_are_refused_and_named(void **state)
{
	(void)state;
	assert_refused("nonsense", "nonsense");
	assert_refused("cpu,nonsense,io", "nonsense");
	assert_refused("cpu, io", " io");
	assert_refused("CPU", "CPU");
}

static void empty_names_are_refused(void **state)
{
	(void)state;
	assert_refused("", "");
	assert_refused("cpu,", "");
	assert_refused(",cpu", "");
	assert_refused("cpu,,io", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_unique),
		cmocka_unit_test(keys_have_small_letters_digits_and_underscores),
		cmocka_unit_test(help_fits_sixty_columns),
		cmocka_unit_test(help_has_no_full_stop),
		cmocka_unit_test(keys_end_in_their_unit),
		cmocka_unit_test(metrics_of_a_task_name_their_field),
		cmocka_unit_test(every_key_is_found),
		cmocka_unit_test(beginning_of_a_key_is_not_found),
		cmocka_unit_test(no_group_is_also_a_key),
		cmocka_unit_test(groups_are_all_that_costs_no_time),
		cmocka_unit_test(set_of_all_has_each_metric),
		cmocka_unit_test(metrics_that_are_not_usual_are_there_when_they_are_put),
		cmocka_unit_test(groups_and_keys_mix_in_a_list),
		cmocka_unit_test(unknown_names_are_refused_and_named),
		cmocka_unit_test(empty_names_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
