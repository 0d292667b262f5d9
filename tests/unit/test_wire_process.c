// SPDX-License-Identifier: BSD-2-Clause
/* Records of processes, written and read back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire_fixture.h"

static void process_is_read_back_as_it_was(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct jsonw j = { 0 };

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
	jsonw_done(&j);
}

static void arguments_and_moves_are_read_back(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_process(&p);
	p.args = "cc\0\0last\xff";
	p.args_length = 10;
	p.args_cut = true;
	p.joined_epoch_ns = 1763690000123457000U;
	p.left_epoch_ns = 1763690001123457000U;
	p.has_ended = false;
	p.state = 'T';
	write_process(&j, &p);
	read_back(&l, &j);
	assert_int_equal(l.process.args_length, 12); /* of the replacement character */
	assert_memory_equal(l.process.args, "cc\0\0last\xef\xbf\xbd", 12);
	assert_true(l.process.args_cut);
	assert_true(l.process.lossy);
	assert_int_equal(l.process.joined_epoch_ns, p.joined_epoch_ns);
	assert_int_equal(l.process.left_epoch_ns, p.left_epoch_ns);
	assert_false(l.process.has_ended);
	assert_int_equal(l.process.state, 'T');
	line_done(&l);
	jsonw_done(&j);
}

static void what_is_read_is_written_as_it_was(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct jsonw j = { 0 }, again = { 0 };

	(void)state;
	fixture_process(&p);
	p.args = "cc\0\xfe";
	p.args_length = 5;
	write_process(&j, &p);
	read_back(&l, &j);
	write_process(&again, &l.process);
	assert_int_equal(again.used, j.used);
	assert_memory_equal(again.text, j.text, j.used);
	line_done(&l);
	jsonw_done(&j);
	jsonw_done(&again);
}

static void times_of_a_process_are_read_back_to_the_microsecond(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_process(&p);
	write_process(&j, &p);
	read_back(&l, &j);
	assert_int_equal(l.process.start_epoch_ns, p.start_epoch_ns);
	assert_int_equal(l.process.end_epoch_ns, p.end_epoch_ns);
	line_done(&l);
	jsonw_done(&j);
}

static void years_of_cpu_time_of_a_process_are_read_back_to_the_nanosecond(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_process(&p);
	p.value[M_cpu] = 100000000000000001U;
	write_process(&j, &p);
	read_back(&l, &j);
	assert_int_equal(l.process.value[M_cpu], 100000000000000001U);
	line_done(&l);
	jsonw_done(&j);
}

static void arguments_are_written_one_by_one(void **state)
{
	struct process p;
	struct jsonw j = { 0 };

	(void)state;
	fixture_process(&p);
	p.args = "cc\0\0last";
	p.args_length = 8;
	p.args_cut = true;
	write_process(&j, &p);
	assert_has(&j, "\"args\":[\"cc\",\"\",\"last\"],\"args_cut\":true,");
	jsonw_done(&j);
}

static void process_killed_by_a_signal_has_no_exit_code(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_process(&p);
	p.exit_code = 0;
	p.signal = 9;
	write_process(&j, &p);
	read_back(&l, &j);
	assert_has(&j, "\"exit_code\":null,\"signal\":9,");
	assert_int_equal(l.process.signal, 9);
	line_done(&l);
	jsonw_done(&j);
}

static void live_process_has_a_state_and_no_end(void **state)
{
	struct process p;
	struct line l = { 0 };
	struct jsonw j = { 0 };

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
	jsonw_done(&j);
}

static void bytes_that_are_not_utf8_mark_only_their_line_lossy(void **state)
{
	struct process p;
	struct jsonw j = { 0 };

	(void)state;
	fixture_process(&p);
	p.exe = "/bin/\xff";
	write_process(&j, &p);
	assert_has(&j, "\"exe\":\"/bin/\xef\xbf\xbd\"");
	assert_has(&j, ",\"lossy\":true}\n");
	jsonw_reset(&j);
	fixture_process(&p);
	write_process(&j, &p);
	assert_null(strstr(j.text, "lossy"));
	jsonw_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(process_is_read_back_as_it_was),
		cmocka_unit_test(arguments_and_moves_are_read_back),
		cmocka_unit_test(what_is_read_is_written_as_it_was),
		cmocka_unit_test(times_of_a_process_are_read_back_to_the_microsecond),
		cmocka_unit_test(years_of_cpu_time_of_a_process_are_read_back_to_the_nanosecond),
		cmocka_unit_test(arguments_are_written_one_by_one),
		cmocka_unit_test(process_killed_by_a_signal_has_no_exit_code),
		cmocka_unit_test(live_process_has_a_state_and_no_end),
		cmocka_unit_test(bytes_that_are_not_utf8_mark_only_their_line_lossy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
