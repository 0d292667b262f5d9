// SPDX-License-Identifier: BSD-2-Clause
#include "base/procstat.h"
#include "base/reaped.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TICK_NS 10000000ULL /* USER_HZ is 100 everywhere */

static void stat_is_read_behind_a_name_of_any_bytes(void **state)
{
	char text[] = "42 (a) R (b c) S 7 42 42 0 -1 4194304 100 200 3 4 5 6 7 8 20 0 9 0 1000 "
		      "4096000 25 18446744073709551615\n";
	struct proc_stat s;

	(void)state;
	assert_int_equal(proc_stat_parse(text, &s), 0);
	assert_string_equal(s.comm, "a) R (b c");
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.parent, 7);
	assert_int_equal(s.minflt, 100);
	assert_int_equal(s.children_minflt, 200);
	assert_int_equal(s.majflt, 3);
	assert_int_equal(s.children_majflt, 4);
	assert_int_equal(s.user_ns, 5 * TICK_NS);
	assert_int_equal(s.system_ns, 6 * TICK_NS);
	assert_int_equal(s.children_user_ns, 7 * TICK_NS);
	assert_int_equal(s.children_system_ns, 8 * TICK_NS);
	assert_int_equal(s.threads, 9);
	assert_int_equal(s.start_ns, 1000 * TICK_NS);
	assert_int_equal(s.vms_bytes, 4096000);
}

static void stat_that_is_cut_is_refused(void **state)
{
	char none[] = "42 name S 1", cut[] = "42 (name) S 1 2 3", reversed[] = "42 )name( S 1";
	struct proc_stat s;

	(void)state;
	assert_int_equal(proc_stat_parse(none, &s), -EBADMSG);
	assert_int_equal(proc_stat_parse(cut, &s), -EBADMSG);
	assert_int_equal(proc_stat_parse(reversed, &s), -EBADMSG);
}

static void io_needs_all_of_its_lines(void **state)
{
	struct proc_io io;

	(void)state;
	assert_int_equal(proc_io_parse("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
				       "write_bytes: 6\ncancelled_write_bytes: 7\n",
				       &io),
			 0);
	assert_int_equal(io.rchar, 1);
	assert_int_equal(io.write_bytes, 6);
	assert_int_equal(io.cancelled_write_bytes, 7);
	assert_int_equal(proc_io_parse("rchar: 1\nwchar: 2\n", &io), -EBADMSG);
}

static void status_of_a_kernel_thread_or_zombie_has_no_memory(void **state)
{
	struct proc_status s;

	(void)state;
	assert_int_equal(proc_status_parse("Name:\tx\nState:\tZ\nUid:\t1000\t0\t0\t0\n"
					   "NSpid:\t4711\t12\t1\nSigIgn:\t0000000000000000\n"
					   "voluntary_ctxt_switches:\t8\n",
					   &s),
			 0);
	assert_false(s.has_memory);
	assert_int_equal(s.uid, 1000);
	assert_int_equal(s.ns_pid, 1);
	assert_int_equal(s.nvcsw, 8);
	assert_false(s.ignores_children);
}

static void status_has_memory_in_bytes_and_whether_sigchld_is_ignored(void **state)
{
	struct proc_status s;

	(void)state;
	assert_int_equal(proc_status_parse("Uid:\t0\t0\t0\t0\nNSpid:\t9\nVmHWM:\t    2048 kB\n"
					   "VmRSS:\t    1024 kB\nRssAnon:\t     512 kB\n"
					   "SigIgn:\t0000000000010000\n"
					   "nonvoluntary_ctxt_switches:\t3\n",
					   &s),
			 0);
	assert_true(s.has_memory);
	assert_int_equal(s.peak_bytes, 2048 << 10);
	assert_int_equal(s.anon_bytes, 512 << 10);
	assert_int_equal(s.shmem_bytes, 0);
	assert_int_equal(s.nivcsw, 3);
	assert_true(s.ignores_children);
	assert_int_equal(proc_status_parse("Name:\tx\n", &s), -EBADMSG);
}

static void process_that_is_gone_is_said_to_be(void **state)
{
	struct proc_stat s;

	(void)state;
	assert_int_equal(proc_stat_read(0x7fffffff, &s), -ESRCH);
}

static void what_is_reaped_is_added_up(void **state)
{
	struct reaped r = { 0 }, back = { 0 };
	char text[REAPED_BYTES];

	(void)state;
	for (int i = 1; i <= 2; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(i);
		assert_int_equal(reaped_wait(&r, pid), 0);
		assert_int_equal(r.last, pid);
		assert_int_equal(WEXITSTATUS(r.status), i);
	}
	assert_true(r.minflt > 0);
	assert_true(r.last_user_ns + r.last_system_ns <= r.user_ns + r.system_ns);
	assert_int_equal(reaped_wait(&r, getpid()), -ECHILD);
	reaped_print(&r, text);
	assert_true(reaped_scan(&back, text));
	assert_memory_equal(&back, &r, sizeof(r));
	assert_false(reaped_scan(&back, "1 2 3"));
}

static void child_keep(void *context, pid_t child)
{
	*(pid_t *)context = child;
}

static void children_are_those_that_live(void **state)
{
	pid_t found = 0, pid = fork();

	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_int_equal(proc_each_child(getpid(), 1, child_keep, &found), 0);
	assert_int_equal(found, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(proc_each_child(0x7fffffff, 1, child_keep, &found), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_is_read_behind_a_name_of_any_bytes),
		cmocka_unit_test(stat_that_is_cut_is_refused),
		cmocka_unit_test(io_needs_all_of_its_lines),
		cmocka_unit_test(status_of_a_kernel_thread_or_zombie_has_no_memory),
		cmocka_unit_test(status_has_memory_in_bytes_and_whether_sigchld_is_ignored),
		cmocka_unit_test(process_that_is_gone_is_said_to_be),
		cmocka_unit_test(what_is_reaped_is_added_up),
		cmocka_unit_test(children_are_those_that_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
