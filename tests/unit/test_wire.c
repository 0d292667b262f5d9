// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "wire/reader.h"
#include "wire/writer.h"

static void read_back(struct line *l, struct json *j)
{
	assert_false(j->failed);
	assert_int_equal(j->text[j->used - 1], '\n');
	assert_int_equal(line_read(l, j->text, j->used), 0);
}

static void assert_has(const struct json *j, const char *part)
{
	if (!strstr(j->text, part))
		fail_msg("no %s in %s", part, j->text);
}

static void same_values(const uint64_t *a, const struct metric_set *a_have, const uint64_t *b,
			const struct metric_set *b_have)
{
	assert_memory_equal(a_have, b_have, sizeof(*a_have));
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(a_have, (enum metric_id)i))
			assert_int_equal(a[i], b[i]);
}

static void sample_is_read_back_as_it_was(void **state)
{
	struct run run;
	struct sample s;
	struct line l = { 0 };
	struct json j = { 0 };

	(void)state;
	fixture_run(&run);
	fixture_sample(&s, 1);
	write_sample(&j, &run, &s);
	read_back(&l, &j);
	assert_int_equal(l.kind, LINE_SAMPLE);
	assert_int_equal(l.sample.elapsed_ns, s.elapsed_ns);
	same_values(l.sample.value, &l.sample.have, s.value, &s.have);
	line_done(&l);
	jw_done(&j);
}

static void zero_is_read_back_as_zero_and_absent_as_absent(void **state)
{
	struct run run;
	struct sample s = { 0 };
	struct line l = { 0 };
	struct json j = { 0 };

	(void)state;
	fixture_run(&run);
	sample_set(&s, M_swap, 0);
	write_sample(&j, &run, &s);
	read_back(&l, &j);
	assert_true(sample_has(&l.sample, M_swap));
	assert_int_equal(l.sample.value[M_swap], 0);
	assert_false(sample_has(&l.sample, M_rss));
	line_done(&l);
	jw_done(&j);
}

/* Beyond 48 days a double is too coarse for it. */
static void forty_days_of_cpu_time_are_read_back_to_the_nanosecond(void **state)
{
	const uint64_t cpu_ns = 40 * 86400 * 1000000000ULL + 123456789;
	struct run run;
	struct sample s = { 0 };
	struct line l = { 0 };
	struct json j = { 0 };

	(void)state;
	fixture_run(&run);
	sample_set(&s, M_cpu, cpu_ns);
	write_sample(&j, &run, &s);
	read_back(&l, &j);
	assert_int_equal(l.sample.value[M_cpu], cpu_ns);
	line_done(&l);
	jw_done(&j);
}

static void instances_are_grouped_by_dimension(void **state)
{
	struct run run;
	struct sample s = { 0 };
	struct json j = { 0 };
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
	jw_done(&j);
}

static void meta_says_what_was_asked_for_and_what_is_missing(void **state)
{
	struct run run;
	struct line l = { 0 };
	struct json j = { 0 };

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
	jw_done(&j);
}

static void meta_without_arguments_has_no_command(void **state)
{
	struct run run;
	struct json j = { 0 };

	(void)state;
	fixture_run(&run);
	run.command = NULL;
	write_meta(&j, &run);
	assert_null(strstr(j.text, "command"));
	jw_done(&j);
}

static void process_is_read_back_as_it_was(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct json j = { 0 };

	(void)state;
	fixture_process(&p);
	write_process(&j, &p);
	read_back(&l, &j);
	assert_int_equal(l.kind, LINE_PROCESS);
	assert_int_equal(l.process.pid, p.pid);
	assert_int_equal(l.process.ns_pid, p.ns_pid);
	assert_int_equal(l.process.ppid, p.ppid);
	assert_int_equal(l.process.uid, p.uid);
	assert_string_equal(l.process.comm, p.comm);
	assert_string_equal(l.process.exe, p.exe);
	assert_true(l.process.has_ended);
	assert_int_equal(l.process.exit_code, p.exit_code);
	assert_int_equal(l.process.signal, 0);
	assert_int_equal(l.process.threads_total, p.threads_total);
	assert_int_equal(l.process.execs, p.execs);
	assert_int_equal(l.process.rss_peak_bytes, p.rss_peak_bytes);
	assert_true(l.process.rss_peak_exact);
	same_values(l.process.value, &l.process.have, p.value, &p.have);
	line_done(&l);
	jw_done(&j);
}

static void times_of_a_process_are_read_back_to_the_microsecond(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct json j = { 0 };

	(void)state;
	fixture_process(&p);
	write_process(&j, &p);
	read_back(&l, &j);
	assert_int_equal(l.process.start_epoch_ns, p.start_epoch_ns);
	assert_int_equal(l.process.end_epoch_ns, p.end_epoch_ns);
	line_done(&l);
	jw_done(&j);
}

static void arguments_are_written_one_by_one(void **state)
{
	struct process p;
	struct json j = { 0 };

	(void)state;
	fixture_process(&p);
	p.args = "cc\0\0last";
	p.args_length = 8;
	p.args_cut = true;
	write_process(&j, &p);
	assert_has(&j, "\"args\":[\"cc\",\"\",\"last\"],\"args_cut\":true,");
	jw_done(&j);
}

static void process_killed_by_a_signal_has_no_exit_code(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct json j = { 0 };

	(void)state;
	fixture_process(&p);
	p.exit_code = 0;
	p.signal = 9;
	write_process(&j, &p);
	read_back(&l, &j);
	assert_has(&j, "\"exit_code\":null,\"signal\":9,");
	assert_int_equal(l.process.signal, 9);
	line_done(&l);
	jw_done(&j);
}

static void live_process_has_a_state_and_no_end(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct json j = { 0 };

	(void)state;
	fixture_live_process(&p);
	write_process(&j, &p);
	read_back(&l, &j);
	assert_has(&j, "\"comm\":\"fifteen letters\",\"exe\":null,");
	assert_has(&j, "\"end_time\":null,\"exit_code\":null,\"signal\":null,\"state\":\"S\",");
	assert_false(l.process.has_ended);
	assert_false(l.process.has_rss_peak);
	assert_null(l.process.exe);
	line_done(&l);
	jw_done(&j);
}

static void bytes_that_are_not_utf8_mark_only_their_line_lossy(void **state)
{
	struct process p;
	struct json j = { 0 };

	(void)state;
	fixture_process(&p);
	p.exe = "/bin/\xff";
	write_process(&j, &p);
	assert_has(&j, "\"exe\":\"/bin/\xef\xbf\xbd\"");
	assert_has(&j, ",\"lossy\":true}\n");
	jw_reset(&j);
	fixture_process(&p);
	write_process(&j, &p);
	assert_null(strstr(j.text, "lossy"));
	jw_done(&j);
}

static void event_has_its_name_time_and_count(void **state)
{
	struct run run;
	struct line l = { 0 };
	struct json j = { 0 };

	(void)state;
	fixture_run(&run);
	write_event(&j, &run, 500000000, "lost", 3);
	read_back(&l, &j);
	assert_int_equal(l.kind, LINE_EVENT);
	assert_string_equal(j.text, "{\"kind\":\"event\",\"time\":1763690000.623456,"
				    "\"event\":\"lost\",\"count\":3}\n");
	line_done(&l);
	jw_done(&j);
}

static void event_of_a_process_names_it_and_why(void **state)
{
	struct run run;
	struct line l = { 0 };
	struct json j = { 0 };

	(void)state;
	fixture_run(&run);
	write_process_event(&j, &run, 500000000, "pss_skipped", 42, "too large");
	read_back(&l, &j);
	assert_int_equal(l.kind, LINE_EVENT);
	assert_string_equal(j.text, "{\"kind\":\"event\",\"time\":1763690000.623456,"
				    "\"event\":\"pss_skipped\",\"pid\":42,"
				    "\"reason\":\"too large\"}\n");
	line_done(&l);
	jw_done(&j);
}

static void summary_is_written_again_as_it_was_read(void **state)
{
	struct summary s;
	struct line l = { 0 };
	struct json first = { 0 }, again = { 0 };

	(void)state;
	fixture_summary(&s);
	write_summary(&first, &s);
	read_back(&l, &first);
	assert_int_equal(l.kind, LINE_SUMMARY);
	write_summary(&again, &l.summary);
	assert_string_equal(again.text, first.text);
	line_done(&l);
	summary_done(&s);
	jw_done(&first);
	jw_done(&again);
}

static void summary_of_an_incomplete_run_is_written_again_as_it_was_read(void **state)
{
	struct summary s = { .signal = 15, .has_status = true, .reason = "it was stopped" };
	struct line l = { 0 };
	struct json first = { 0 }, again = { 0 };

	(void)state;
	summary_add_loss(&s, "records", 5);
	write_summary(&first, &s);
	read_back(&l, &first);
	write_summary(&again, &l.summary);
	assert_string_equal(again.text, first.text);
	assert_has(&first, "\"complete\":false,\"reason\":\"it was stopped\","
			   "\"losses\":{\"records\":5},\"exit_code\":null,\"signal\":15,");
	line_done(&l);
	jw_done(&first);
	jw_done(&again);
}

static void summary_without_status_has_neither_code_nor_signal(void **state)
{
	struct summary s = { .complete = true };
	struct line l = { 0 };
	struct json j = { 0 };

	(void)state;
	write_summary(&j, &s);
	read_back(&l, &j);
	assert_has(&j, "\"exit_code\":null,\"signal\":null,");
	assert_false(l.summary.has_status);
	assert_true(l.summary.complete);
	line_done(&l);
	jw_done(&j);
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
	struct json j = { 0 };

	(void)state;
	too_many_programs(&s);
	write_summary(&j, &s);
	read_back(&l, &j);
	assert_int_equal(s.programs[0].processes, 101);
	assert_int_equal(l.summary.nr_programs, s.nr_programs);
	assert_int_equal(l.summary.programs[0].processes, 101);
	line_done(&l);
	summary_done(&s);
	jw_done(&j);
}

static void gauges_have_no_place_in_the_summary(void **state)
{
	struct summary s;
	struct json j = { 0 };

	(void)state;
	fixture_summary(&s);
	write_summary(&j, &s);
	assert_null(strstr(j.text, "\"vms_bytes\""));
	assert_null(strstr(j.text, "\"threads\""));
	summary_done(&s);
	jw_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_is_read_back_as_it_was),
		cmocka_unit_test(zero_is_read_back_as_zero_and_absent_as_absent),
		cmocka_unit_test(forty_days_of_cpu_time_are_read_back_to_the_nanosecond),
		cmocka_unit_test(instances_are_grouped_by_dimension),
		cmocka_unit_test(meta_says_what_was_asked_for_and_what_is_missing),
		cmocka_unit_test(meta_without_arguments_has_no_command),
		cmocka_unit_test(process_is_read_back_as_it_was),
		cmocka_unit_test(times_of_a_process_are_read_back_to_the_microsecond),
		cmocka_unit_test(arguments_are_written_one_by_one),
		cmocka_unit_test(process_killed_by_a_signal_has_no_exit_code),
		cmocka_unit_test(live_process_has_a_state_and_no_end),
		cmocka_unit_test(bytes_that_are_not_utf8_mark_only_their_line_lossy),
		cmocka_unit_test(event_has_its_name_time_and_count),
		cmocka_unit_test(event_of_a_process_names_it_and_why),
		cmocka_unit_test(summary_is_written_again_as_it_was_read),
		cmocka_unit_test(summary_of_an_incomplete_run_is_written_again_as_it_was_read),
		cmocka_unit_test(summary_without_status_has_neither_code_nor_signal),
		cmocka_unit_test(summary_of_too_many_programs_is_read_back_as_it_was),
		cmocka_unit_test(gauges_have_no_place_in_the_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
