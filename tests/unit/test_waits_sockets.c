// SPDX-License-Identifier: BSD-2-Clause
/* The other end of a connection is found in the tables of sockets. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "waits/sockets.h"

#include <string.h>

#define ROW(local, remote, inode)                                                                  \
	"   1: " local " " remote                                                                  \
	" 01 00000000:00000000 00:00000000 00000000  1000        0 " inode " 1 0\n"

static void both_ends_of_a_connection_are_in_the_table(void **state)
{
	static const char table[] = "  sl  local_address rem_address   st tx_queue rx_queue tr "
				    "tm->when retrnsmt   uid  timeout inode\n" //
		ROW("0100007F:1F90", "00000000:0000", "4711")                  //
		ROW("0100007F:9C40", "0100007F:1F90", "4712")
			ROW("0100007F:1F90", "0100007F:9C40", "4713");
	struct socket_view v = { .peer = 0 };

	(void)state;
	assert_true(net_table_find(table, NULL, 4712, "tcp", &v));
	assert_string_equal(v.local, "127.0.0.1:40000 (tcp)");
	assert_string_equal(v.remote, "127.0.0.1:8080 (tcp)");
	assert_int_equal(v.peer, 4713);
	memset(&v, 0, sizeof(v));
	assert_true(net_table_find(table, NULL, 4711, "tcp", &v));
	assert_string_equal(v.local, "127.0.0.1:8080 (tcp)");
	assert_string_equal(v.remote, "");
	assert_int_equal(v.peer, 0);
	assert_false(net_table_find(table, NULL, 471, "tcp", &v));
	assert_false(net_table_find("", NULL, 4711, "tcp", &v));
	assert_false(net_table_find(NULL, NULL, 4711, "tcp", &v));
}

static void the_other_end_may_be_in_the_table_of_the_other_version(void **state)
{
	static const char six[] = ROW("0000000000000000FFFF00000100007F:1F90",
				      "0000000000000000FFFF00000100007F:9C40", "4713");
	static const char four[] = ROW("0100007F:9C40", "0100007F:1F90", "4712");
	struct socket_view v = { .peer = 0 };

	(void)state;
	assert_true(net_table_find(six, four, 4713, "tcp", &v));
	assert_string_equal(v.remote, "127.0.0.1:40000 (tcp)");
	assert_int_equal(v.peer, 4712);
	memset(&v, 0, sizeof(v));
	assert_true(net_table_find(four, six, 4712, "tcp", &v));
	assert_int_equal(v.peer, 4713);
}

#define ROW_OF(local, remote, state, queued, inode)                                                \
	"   1: " local " " remote " " state " 00000000:" queued                                    \
	" 00:00000000 00000000  1000        0 " inode " 1 0\n"

static uint64_t listener_of(const char *text, const char *others, uint64_t inode, unsigned *queued)
{
	struct socket_view v = { .peer = 0 };

	assert_true(net_table_find(text, others, inode, "tcp", &v));
	*queued = v.queued;
	return v.listener;
}

static void what_listens_is_known_of_a_connection_to_this_machine_that_is_not_answered(void **state)
{
	static const char four[] =
		ROW_OF("00000000:1F90", "00000000:0000", "0A", "00000002", "10") //
		ROW_OF("0100007F:9C40", "0100007F:1F90", "02", "00000000",
		       "11") ROW_OF("0A00000A:9C41", "0B00000A:1F90", "02", "00000000", "12")
			ROW_OF("0A00000A:9C42", "0A00000A:1F90", "02", "00000000", "13") ROW_OF(
				"0100007F:9C43", "0100007F:1F91", "02", "00000000", "14")
				ROW_OF("0100007F:9C44", "0100007F:1F90", "01", "00000000", "15");
	static const char six[] =
		ROW_OF("00000000000000000000000000000000:1F91",
		       "00000000000000000000000000000000:0000", "0A", "00000000", "20");
	unsigned queued;

	(void)state;
	assert_int_equal(listener_of(four, six, 11, &queued), 10);
	assert_int_equal(queued, 2);
	assert_int_equal(listener_of(four, six, 12, &queued), 0); /* of another machine */
	assert_int_equal(listener_of(four, six, 13, &queued), 10);
	assert_int_equal(listener_of(four, six, 14, &queued), 20);
	assert_int_equal(queued, 0);
	assert_int_equal(listener_of(four, six, 15, &queued), 0); /* it is connected */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_of_a_connection_are_in_the_table),
		cmocka_unit_test(the_other_end_may_be_in_the_table_of_the_other_version),
		cmocka_unit_test(
			what_listens_is_known_of_a_connection_to_this_machine_that_is_not_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
