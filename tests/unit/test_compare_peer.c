// SPDX-License-Identifier: BSD-2-Clause
/* Other tools' files as sides: GNU time 1.9 as it printed it here, prmon as its source writes it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "compare_fixture.h"

#include <errno.h>

#define TIMED(command)                                                                             \
	"\tCommand being timed: \"" command "\"\n"                                                 \
	"\tUser time (seconds): 0.70\n"                                                            \
	"\tSystem time (seconds): 0.10\n"                                                          \
	"\tPercent of CPU this job got: 85%\n"
#define REST(elapsed, kib, status)                                                                 \
	"\tElapsed (wall clock) time (h:mm:ss or m:ss): " elapsed "\n"                             \
	"\tAverage shared text size (kbytes): 0\n"                                                 \
	"\tAverage unshared data size (kbytes): 0\n"                                               \
	"\tAverage stack size (kbytes): 0\n"                                                       \
	"\tAverage total size (kbytes): 0\n"                                                       \
	"\tMaximum resident set size (kbytes): " kib "\n"                                          \
	"\tAverage resident set size (kbytes): 0\n"                                                \
	"\tMajor (requiring I/O) page faults: 3\n"                                                 \
	"\tMinor (reclaiming a frame) page faults: 5618\n"                                         \
	"\tVoluntary context switches: 3719\n"                                                     \
	"\tInvoluntary context switches: 3486\n"                                                   \
	"\tSwaps: 0\n"                                                                             \
	"\tFile system inputs: 16\n"                                                               \
	"\tFile system outputs: 8\n"                                                               \
	"\tSocket messages sent: 0\n"                                                              \
	"\tSocket messages received: 0\n"                                                          \
	"\tSignals delivered: 0\n"                                                                 \
	"\tPage size (bytes): 4096\n"                                                              \
	"\tExit status: " status "\n"

static int add(struct sides *all, const char *text)
{
	return add_text(all, text, sides_add_peer);
}

static double value(const struct sides *all, const char *key)
{
	return all->list[all->nr - 1].value[key_of(key)];
}

static const char *fact(const struct sides *all, const char *key)
{
	return json_string_value(json_object_get(all->list[all->nr - 1].facts, key));
}

static void a_block_of_time_is_read_in_our_units(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add(&all, TIMED("sh -c x") REST("1:02.94", "22112", "3")), 0);
	assert_string_equal(all.list[0].format, "GNU time");
	assert_true(value(&all, "wall_seconds") == 62.94);
	assert_true(value(&all, "user_seconds") == 0.70);
	assert_true(value(&all, "system_seconds") == 0.10);
	assert_near(value(&all, "cpu_seconds"), 0.80, 1e-12);
	assert_near(value(&all, "cores_mean"), 0.80 / 62.94, 1e-12);
	assert_true(value(&all, "process_rss_peak_bytes") == 22112 * 1024.0);
	assert_true(value(&all, "majflt") == 3);
	assert_true(value(&all, "minflt") == 5618);
	assert_true(value(&all, "nvcsw") == 3719);
	assert_true(value(&all, "nivcsw") == 3486);
	assert_true(value(&all, "read_bytes") == 8192);
	assert_true(value(&all, "write_bytes") == 4096);
	assert_true(value(&all, "exit_code") == 3);
	assert_string_equal(fact(&all, "command"), "sh -c x");
	sides_done(&all);
}

static void a_value_that_a_tool_does_not_record_is_absent(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add(&all, TIMED("x") REST("0:00.00", "1", "0")), 0);
	assert_true(isnan(value(&all, "rss_peak_bytes")));
	assert_true(isnan(value(&all, "processes_total")));
	assert_true(isnan(value(&all, "pss_peak_bytes")));
	assert_true(isnan(value(&all, "cores_mean"))); /* of no time */
	assert_true(value(&all, "wall_seconds") == 0);
	sides_done(&all);
}

static void hours_are_read(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add(&all, TIMED("x") REST("26:03:04", "1", "0")), 0);
	assert_true(value(&all, "wall_seconds") == 26 * 3600 + 3 * 60 + 4);
	sides_done(&all);
}

static void a_killed_command_has_a_signal_and_no_exit_code(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add(&all, "its own words\nCommand terminated by signal 9\n" TIMED("x")
					   REST("0:01.00", "1", "0")),
			 0);
	assert_true(value(&all, "signal") == 9);
	assert_true(isnan(value(&all, "exit_code")));
	sides_done(&all);
}

static void words_of_the_command_are_not_those_of_time(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add(&all, "Command terminated by signal 9\nmore\n" TIMED("a\nb\"")
					   REST("0:01.00", "1", "0")),
			 0);
	assert_true(value(&all, "signal") == 0); /* it ended with a status */
	assert_true(value(&all, "exit_code") == 0);
	assert_string_equal(fact(&all, "command"), "a\nb");
	sides_done(&all);
}

static void two_blocks_are_refused(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add(&all, TIMED("x") REST("0:01.00", "1", "0") TIMED("y")
					   REST("0:01.00", "1", "0")),
			 -EMLINK);
	assert_int_equal(all.nr, 0);
	sides_done(&all);
}

static void a_number_that_is_none_is_absent(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add(&all, TIMED("x") REST("later", "0x10", "?")), 0);
	assert_true(isnan(value(&all, "wall_seconds")));
	assert_true(isnan(value(&all, "process_rss_peak_bytes")));
	assert_true(isnan(value(&all, "exit_code")));
	sides_done(&all);
}

static void prmon_is_read_in_our_units(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(
		add(&all,
		    "{\n  \"Avg\": {\"nprocs\": 2.5, \"pss\": 900.0, \"rss\": 1000.0},\n"
		    "  \"HW\": {\"cpu\": {\"CPUs\": 8, \"ModelName\": \"X\"},"
		    " \"mem\": {\"MemTotal\": 16000}},\n"
		    "  \"Max\": {\"nprocs\": 4, \"nthreads\": 9, \"pss\": 1500, \"rchar\": 11,"
		    " \"read_bytes\": 4096, \"rss\": 2000, \"rx_bytes\": 5, \"stime\": 3,"
		    " \"swap\": 0, \"utime\": 40, \"vmem\": 90000, \"wchar\": 12,"
		    " \"write_bytes\": 8192, \"wtime\": 60},\n  \"prmon\": {\"Version\": "
		    "\"3.1.1\"}\n}\n"),
		0);
	assert_string_equal(all.list[0].format, "prmon");
	assert_true(value(&all, "wall_seconds") == 60);
	assert_true(value(&all, "user_seconds") == 40);
	assert_true(value(&all, "system_seconds") == 3);
	assert_true(value(&all, "cpu_seconds") == 43);
	assert_near(value(&all, "cores_mean"), 43 / 60.0, 1e-12);
	assert_true(value(&all, "rss_peak_bytes") == 2000 * 1024.0);
	assert_true(value(&all, "pss_peak_bytes") == 1500 * 1024.0);
	assert_true(value(&all, "rchar_bytes") == 11);
	assert_true(value(&all, "wchar_bytes") == 12);
	assert_true(value(&all, "read_bytes") == 4096);
	assert_true(value(&all, "write_bytes") == 8192);
	assert_true(isnan(value(&all, "exit_code")));
	assert_string_equal(fact(&all, "system.cpus"), "8");
	assert_string_equal(fact(&all, "system.memory_bytes"), "16384000");
	sides_done(&all);
}

static void prmon_before_version_2_is_read(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add(&all,
			     "{\"Max\":{\"maxVMEM\":9,\"maxPSS\":7,\"maxRSS\":8,\"maxSwap\":0,"
			     "\"wtime\":5,\"totRCHAR\":6},\"Avg\":{\"avgRSS\":4}}"),
			 0);
	assert_true(value(&all, "rss_peak_bytes") == 8192);
	assert_true(value(&all, "pss_peak_bytes") == 7168);
	assert_true(value(&all, "rchar_bytes") == 6);
	assert_true(isnan(value(&all, "cpu_seconds")));
	sides_done(&all);
}

static void other_files_are_refused(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add(&all, ""), -EBADMSG);
	assert_int_equal(add(&all, "hello\n"), -EBADMSG);
	assert_int_equal(add(&all, "{\"Max\":{\"rss\":1}}"), -EBADMSG);
	assert_int_equal(add(&all, "{\"Max\":1,\"Avg\":2}"), -EBADMSG);
	assert_int_equal(add(&all, "{\"Max\":{"), -EBADMSG);
	assert_int_equal(add(&all, TIMED("x")), -EBADMSG);
	assert_int_equal(sides_add_peer(&all, "/nonexistent/x"), -ENOENT);
	assert_int_equal(all.nr, 0);
	sides_done(&all);
}

static void memory_that_no_machine_has_is_absent(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add(&all, "{\"Max\":{},\"Avg\":{},\"HW\":{\"cpu\":{\"CPUs\":2},"
				   "\"mem\":{\"MemTotal\":9223372036854775807}}}"),
			 0);
	assert_null(fact(&all, "system.memory_bytes"));
	assert_string_equal(fact(&all, "system.cpus"), "2");
	sides_done(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_of_time_is_read_in_our_units),
		cmocka_unit_test(a_value_that_a_tool_does_not_record_is_absent),
		cmocka_unit_test(hours_are_read),
		cmocka_unit_test(a_killed_command_has_a_signal_and_no_exit_code),
		cmocka_unit_test(words_of_the_command_are_not_those_of_time),
		cmocka_unit_test(two_blocks_are_refused),
		cmocka_unit_test(a_number_that_is_none_is_absent),
		cmocka_unit_test(prmon_is_read_in_our_units),
		cmocka_unit_test(prmon_before_version_2_is_read),
		cmocka_unit_test(memory_that_no_machine_has_is_absent),
		cmocka_unit_test(other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
