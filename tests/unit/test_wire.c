// SPDX-License-Identifier: BSD-2-Clause
/* Samples, meta and events, written and read back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire_fixture.h"

static void sample_is_read_back_as_it_was(void **state)
{
	struct run run;
	struct sample s;
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_run(&run);
	fixture_sample(&s, 1);
	write_sample(&j, &run, &s);
	read_back(&l, &j);
	assert_int_equal(l.kind, LINE_SAMPLE);
	assert_int_equal(l.sample.elapsed_ns, s.elapsed_ns);
	same_values(l.sample.value, &l.sample.have, s.value, &s.have);
	line_done(&l);
	jsonw_done(&j);
}

static void zero_is_read_back_as_zero_and_absent_as_absent(void **state)
{
	struct run run;
	struct sample s = { 0 };
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_run(&run);
	sample_set(&s, M_swap, 0);
	write_sample(&j, &run, &s);
	read_back(&l, &j);
	assert_true(sample_has(&l.sample, M_swap));
	assert_int_equal(l.sample.value[M_swap], 0);
	assert_false(sample_has(&l.sample, M_rss));
	line_done(&l);
	jsonw_done(&j);
}

/* Beyond 48 days a double is too coarse for them. */
static void centuries_of_cpu_time_are_read_back_to_the_nanosecond(void **state)
{
	const uint64_t cpu_ns = 18446744073709551557U, user_ns = 51 * 86400 * 1000000000ULL + 1;
	struct run run;
	struct sample s = { 0 };
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_run(&run);
	s.elapsed_ns = cpu_ns - 1;
	sample_set(&s, M_cpu, cpu_ns);
	sample_set(&s, M_user, user_ns);
	write_sample(&j, &run, &s);
	read_back(&l, &j);
	assert_int_equal(l.sample.elapsed_ns, cpu_ns - 1);
	assert_int_equal(l.sample.value[M_cpu], cpu_ns);
	assert_int_equal(l.sample.value[M_user], user_ns);
	line_done(&l);
	jsonw_done(&j);
}

static void instances_are_grouped_by_dimension(void **state)
{
	struct run run;
	struct sample s = { 0 };
	struct jsonw j = { 0 };
	struct instance *i;

	(void)state;
	fixture_run(&run);
	i = sample_add_instance(&s, "core", "0");
	i->value[M_cpu] = 1200000000;
	metric_put(&i->have, M_cpu);
	sample_add_instance(&s, "core", "1");
	sample_add_instance(&s, "gpu", "0");
	write_sample(&j, &run, &s);
	assert_has(&j,
		   "\"by\":{\"core\":{\"0\":{\"cpu_seconds\":1.2},\"1\":{}},\"gpu\":{\"0\":{}}}}");
	sample_reset(&s);
	jsonw_done(&j);
}

static void meta_has_the_requested_and_the_missing_metrics(void **state)
{
	struct run run;
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_run(&run);
	write_meta(&j, &run);
	read_back(&l, &j);
	assert_int_equal(l.kind, LINE_META);
	assert_memory_equal(&l.wanted, &run.wanted, sizeof(l.wanted));
	assert_int_equal(l.start_epoch_ns, run.start_epoch_ns);
	assert_has(&j, "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",");
	assert_has(&j, "\"command\":[\"make\",\"-j8\",\"say \\\"hi\\\"\"]");
	assert_has(&j, "\"swap_bytes\":{\"available\":false,"
		       "\"reason\":\"this kernel does not say\"}");
	assert_has(&j, "\"cpu_seconds\":{\"available\":true}");
	line_done(&l);
	jsonw_done(&j);
}

static void meta_without_arguments_has_no_command(void **state)
{
	struct run run;
	struct jsonw j = { 0 };

	(void)state;
	fixture_run(&run);
	run.command = NULL;
	write_meta(&j, &run);
	assert_null(strstr(j.text, "command"));
	jsonw_done(&j);
}

static void event_has_its_name_time_and_count(void **state)
{
	struct run run;
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_run(&run);
	write_event(&j, &run, 500000000, "lost", 3);
	read_back(&l, &j);
	assert_int_equal(l.kind, LINE_EVENT);
	assert_string_equal(j.text, "{\"kind\":\"event\",\"time\":1763690000.623456,"
				    "\"event\":\"lost\",\"count\":3}\n");
	line_done(&l);
	jsonw_done(&j);
}

static void event_of_a_process_names_it_and_why(void **state)
{
	struct run run;
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_run(&run);
	write_process_event(&j, &run, 500000000, "pss_skipped", 42, "too large");
	read_back(&l, &j);
	assert_int_equal(l.kind, LINE_EVENT);
	assert_string_equal(j.text, "{\"kind\":\"event\",\"time\":1763690000.623456,"
				    "\"event\":\"pss_skipped\",\"pid\":42,"
				    "\"reason\":\"too large\"}\n");
	line_done(&l);
	jsonw_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_is_read_back_as_it_was),
		cmocka_unit_test(zero_is_read_back_as_zero_and_absent_as_absent),
		cmocka_unit_test(centuries_of_cpu_time_are_read_back_to_the_nanosecond),
		cmocka_unit_test(instances_are_grouped_by_dimension),
		cmocka_unit_test(meta_has_the_requested_and_the_missing_metrics),
		cmocka_unit_test(meta_without_arguments_has_no_command),
		cmocka_unit_test(event_has_its_name_time_and_count),
		cmocka_unit_test(event_of_a_process_names_it_and_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
