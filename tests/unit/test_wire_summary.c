// SPDX-License-Identifier: BSD-2-Clause
/* Summaries, written and read back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire_fixture.h"

static void summary_is_written_again_as_it_was_read(void **state)
{
	struct summary s;
	struct line l = { 0 };
	struct jsonw first = { 0 }, again = { 0 };

	(void)state;
	fixture_summary(&s);
	write_summary(&first, &s);
	read_back(&l, &first);
	assert_int_equal(l.kind, LINE_SUMMARY);
	write_summary(&again, &l.summary);
	assert_string_equal(again.text, first.text);
	line_done(&l);
	summary_done(&s);
	jsonw_done(&first);
	jsonw_done(&again);
}

static void summary_of_an_incomplete_run_is_written_again_as_it_was_read(void **state)
{
	struct summary s = { .signal = 15, .has_status = true, .reason = "it was stopped" };
	struct line l = { 0 };
	struct jsonw first = { 0 }, again = { 0 };

	(void)state;
	summary_add_loss(&s, "records", 5);
	write_summary(&first, &s);
	read_back(&l, &first);
	write_summary(&again, &l.summary);
	assert_string_equal(again.text, first.text);
	assert_has(&first, "\"complete\":false,\"reason\":\"it was stopped\","
			   "\"losses\":{\"records\":5},\"exit_code\":null,\"signal\":15,");
	line_done(&l);
	jsonw_done(&first);
	jsonw_done(&again);
}

static void summary_without_a_view_of_oom_kills_has_no_number_of_them(void **state)
{
	struct summary s = { .complete = true };
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	write_summary(&j, &s);
	read_back(&l, &j);
	assert_null(strstr(j.text, "oom"));
	assert_false(l.summary.has_oom_kills);
	line_done(&l);
	jsonw_done(&j);
}

/* What is folded of samples: a 0 would say that it was counted. */
static void summary_that_the_collector_did_not_make_has_no_zeros(void **state)
{
	struct summary s = { .samples = 1 };
	struct jsonw j = { 0 };

	(void)state;
	sample_set(&s.total, M_cpu, 0);
	write_summary(&j, &s);
	assert_string_equal(j.text, "{\"kind\":\"summary\",\"complete\":false,\"losses\":{},"
				    "\"exit_code\":null,\"signal\":null,\"wall_seconds\":0,"
				    "\"samples\":1,\"cpu_seconds\":0,\"cores_mean\":0,"
				    "\"programs\":[]}\n");
	s.drains = 1;
	jsonw_reset(&j);
	write_summary(&j, &s);
	assert_has(&j, "\"outlived\":0,\"samples\":1,\"late_ticks\":0,\"processes_total\":0,");
	assert_has(&j, "\"self\":{\"collector\":{},\"recorder\":{},\"drains\":");
	jsonw_done(&j);
}

static void summary_of_a_run_that_listens_has_what_was_pushed(void **state)
{
	struct summary s = {
		.complete = true,
		.has_pushed = true,
		.pushed = { .marks = 1, .metrics = 2, .dropped = 3, .refused = 4, .malformed = 5 },
	};
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	write_summary(&j, &s);
	read_back(&l, &j);
	assert_has(&j, "\"pushed\":{\"marks\":1,\"metrics\":2,\"dropped\":3,\"refused\":4,"
		       "\"malformed\":5}");
	assert_true(l.summary.has_pushed);
	assert_memory_equal(&l.summary.pushed, &s.pushed, sizeof(s.pushed));
	s.has_pushed = false;
	jsonw_reset(&j);
	write_summary(&j, &s);
	assert_null(strstr(j.text, "pushed"));
	line_done(&l);
	jsonw_done(&j);
}

static void summary_without_status_has_neither_code_nor_signal(void **state)
{
	struct summary s = { .complete = true };
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	write_summary(&j, &s);
	read_back(&l, &j);
	assert_has(&j, "\"exit_code\":null,\"signal\":null,");
	assert_false(l.summary.has_status);
	assert_true(l.summary.complete);
	line_done(&l);
	jsonw_done(&j);
}

/* The folded ones, whose name is null, have used the most: they come first. */
static void too_many_programs(struct summary *s)
{
	struct process p = { 0 };
	char exe[32];

	metric_put(&p.have, M_cpu);
	p.exe = exe;
	for (int i = 0; i < MAX_PROGRAMS + 100; i++) {
		p.value[M_cpu] = 1;
		snprintf(exe, sizeof(exe), "p%d", i);
		summary_add_process(s, &p);
	}
	summary_finish(s);
}

static void summary_of_too_many_programs_is_read_back_as_it_was(void **state)
{
	struct summary s = { .complete = true };
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	too_many_programs(&s);
	write_summary(&j, &s);
	read_back(&l, &j);
	assert_int_equal(s.programs[0].processes, 101);
	assert_int_equal(l.summary.nr_programs, s.nr_programs);
	assert_int_equal(l.summary.programs[0].processes, 101);
	line_done(&l);
	summary_done(&s);
	jsonw_done(&j);
}

static void gauges_have_no_place_in_the_summary(void **state)
{
	struct summary s;
	struct jsonw j = { 0 };

	(void)state;
	fixture_summary(&s);
	write_summary(&j, &s);
	assert_null(strstr(j.text, "\"vms_bytes\""));
	assert_null(strstr(j.text, "\"threads\""));
	summary_done(&s);
	jsonw_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summary_is_written_again_as_it_was_read),
		cmocka_unit_test(summary_of_an_incomplete_run_is_written_again_as_it_was_read),
		cmocka_unit_test(summary_without_a_view_of_oom_kills_has_no_number_of_them),
		cmocka_unit_test(summary_that_the_collector_did_not_make_has_no_zeros),
		cmocka_unit_test(summary_of_a_run_that_listens_has_what_was_pushed),
		cmocka_unit_test(summary_without_status_has_neither_code_nor_signal),
		cmocka_unit_test(summary_of_too_many_programs_is_read_back_as_it_was),
		cmocka_unit_test(gauges_have_no_place_in_the_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
