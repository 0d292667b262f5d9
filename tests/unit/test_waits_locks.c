// SPDX-License-Identifier: BSD-2-Clause
/* The requests and the holders of locks are found in /proc/locks and in fdinfo. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "waits/scan.h"

#include <string.h>

static const char locks[] = "1: POSIX  ADVISORY  WRITE 18002 fe:00:10953612 0 EOF\n"
			    "1: -> POSIX  ADVISORY  WRITE 18101 fe:00:10953612 0 EOF\n"
			    "2: FLOCK  ADVISORY  READ 18002 fe:00:10953611 0 EOF\n"
			    "2: -> FLOCK  ADVISORY  WRITE 18100 fe:00:10953611 0 EOF\n"
			    "2:  -> FLOCK  ADVISORY  WRITE 18103 fe:00:10953611 0 EOF\n"
			    "3: OFDLCK ADVISORY  WRITE -1 fe:00:10953499 0 9\n"
			    "3: -> OFDLCK ADVISORY  WRITE -1 fe:00:10953499 0 4\n"
			    "4: OFDLCK ADVISORY  WRITE -1 fe:00:10953499 50 EOF\n"
			    "4: -> OFDLCK ADVISORY  READ -1 fe:00:10953499 60 69\n"
			    "5: LEASE  BREAKING  READ 18002 fe:00:10954182 0 EOF\n"
			    "5: -> LEASE  BREAKER   READ 18105 <none>:0 0 EOF\n";

static void a_lock_is_found_by_the_process_that_waits_for_it(void **state)
{
	struct file_lock asked = { .pid = 18101, .first = 1 }, held;

	(void)state;
	assert_true(locks_find(locks, &asked, &held));
	assert_string_equal(held.kind, "POSIX");
	assert_int_equal(held.pid, 18002);
	assert_int_equal(held.major, 0xfe);
	assert_int_equal(held.inode, 10953612);
	asked = (struct file_lock){ .pid = 18103, .first = 1 };
	assert_true(locks_find(locks, &asked, &held));
	assert_string_equal(held.kind, "FLOCK");
	assert_true(asked.writes);
	asked = (struct file_lock){ .pid = 18103, .kind = "POSIX", .first = 1 };
	assert_false(locks_find(locks, &asked, &held));
	asked = (struct file_lock){ .pid = 18002, .first = 1 };
	assert_false(locks_find(locks, &asked, &held));
}

static void a_lock_of_an_open_file_is_found_by_the_file_and_its_bytes(void **state)
{
	struct file_lock asked = { .pid = -1, .inode = 10953499, .first = 60, .last = 69 }, held;

	(void)state;
	assert_true(locks_find(locks, &asked, &held));
	assert_string_equal(held.kind, "OFDLCK");
	assert_int_equal(held.pid, -1);
	assert_int_equal(held.first, 50);
	assert_true(held.last == UINT64_MAX);
	assert_false(asked.writes);
	asked = (struct file_lock){ .pid = -1, .inode = 4711, .first = 1 };
	assert_false(locks_find(locks, &asked, &held));
}

static void the_breaker_of_a_lease_waits_for_the_process_that_has_it(void **state)
{
	struct file_lock asked = { .pid = 18105, .first = 1 }, held;

	(void)state;
	assert_true(locks_find(locks, &asked, &held));
	assert_string_equal(held.kind, "LEASE");
	assert_int_equal(held.pid, 18002);
	assert_non_null(locks_next_holder(locks, &asked, &held));
	assert_int_equal(held.inode, 10954182);
}

static void a_holder_has_a_lock_of_the_same_kind_and_bytes(void **state)
{
	const struct file_lock write = { "OFDLCK", true, -1, 8, 1, 5, 10, 19 };
	struct file_lock held = { "POSIX", false, 7, 8, 1, 5, 19, UINT64_MAX };

	(void)state;
	assert_true(lock_conflicts(&held, &write));
	held.first = 20;
	assert_false(lock_conflicts(&held, &write));
	held = (struct file_lock){ "FLOCK", true, 7, 8, 1, 5, 0, UINT64_MAX };
	assert_false(lock_conflicts(&held, &write));
	held = (struct file_lock){ "OFDLCK", true, -1, 8, 1, 6, 0, UINT64_MAX };
	assert_false(lock_conflicts(&held, &write));
	assert_true(fdinfo_has_conflict(
		"pos:\t0\nlock:\t1: OFDLCK ADVISORY  READ -1 08:01:5 0 10\n", &write));
	assert_false(fdinfo_has_conflict(
		"pos:\t0\nlock:\t1: OFDLCK ADVISORY  READ -1 08:01:5 0 9\n", &write));
	assert_false(fdinfo_has_conflict("pos:\t0\n", &write));
}

static void two_that_read_do_not_wait_for_each_other_and_none_for_its_own_lock(void **state)
{
	struct file_lock held = { "POSIX", false, 7, 8, 1, 5, 0, 9 };
	struct file_lock request = { "POSIX", false, 8, 8, 1, 5, 0, 9 };

	(void)state;
	assert_false(lock_conflicts(&held, &request));
	request.writes = true;
	assert_true(lock_conflicts(&held, &request));
	request.pid = 7;
	assert_false(lock_conflicts(&held, &request));
}

static bool text_has_request(const char *text, pid_t pid)
{
	struct file_lock asked = { .pid = pid, .first = 1 }, held;

	return locks_find(text, &asked, &held);
}

static void no_line_of_rubbish_is_a_lock(void **state)
{
	(void)state;
	assert_false(text_has_request("1: -> FLOCK ADVISORY WRITE 7 fe:00:1 0 EOF", 7));
	assert_false(text_has_request("no colon\n:\n1:\n1: ->\n", 0));
	assert_false(text_has_request("1: FLOCK ADVISORY WRITE 6 fe:00:1 0 EOF\nrubbish\n"
				      "1: -> FLOCK ADVISORY WRITE 7 fe:00:1 0 EOF\n",
				      7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_is_found_by_the_process_that_waits_for_it),
		cmocka_unit_test(a_lock_of_an_open_file_is_found_by_the_file_and_its_bytes),
		cmocka_unit_test(the_breaker_of_a_lease_waits_for_the_process_that_has_it),
		cmocka_unit_test(a_holder_has_a_lock_of_the_same_kind_and_bytes),
		cmocka_unit_test(
			two_that_read_do_not_wait_for_each_other_and_none_for_its_own_lock),
		cmocka_unit_test(no_line_of_rubbish_is_a_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
