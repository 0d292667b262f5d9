// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct pair {
	int fd[2];
};

static int pair_make(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));

	*state = p;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, p->fd);
}

static int pair_close(void **state)
{
	struct pair *p = *state;

	close(p->fd[0]); /* closed already, in some */
	close(p->fd[1]);
	free(p);
	return 0;
}

static void message_arrives_as_it_was_sent(void **state)
{
	struct pair *p = *state;
	struct control m;

	assert_int_equal(control_send(p->fd[0], CONTROL_ENDED, -9, 123, "why"), 0);
	assert_int_equal(control_receive(p->fd[1], &m), 1);
	assert_int_equal(m.type, CONTROL_ENDED);
	assert_int_equal(m.value, -9);
	assert_int_equal(m.when_ns, 123);
	assert_string_equal(m.text, "why");
}

static void messages_stay_apart(void **state)
{
	struct pair *p = *state;
	struct control m;

	control_send(p->fd[0], CONTROL_READY, 0, 0, NULL);
	control_send(p->fd[0], CONTROL_STOP, 0, 0, NULL);
	assert_int_equal(control_receive(p->fd[1], &m), 1);
	assert_int_equal(m.type, CONTROL_READY);
	assert_string_equal(m.text, "");
	assert_int_equal(control_receive(p->fd[1], &m), 1);
	assert_int_equal(m.type, CONTROL_STOP);
}

static void long_text_is_cut_and_ended(void **state)
{
	struct pair *p = *state;
	struct control m;
	char text[sizeof(m.text) + 100];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(control_send(p->fd[0], CONTROL_FAILED, 0, 0, text), 0);
	assert_int_equal(control_receive(p->fd[1], &m), 1);
	assert_int_equal(strlen(m.text), sizeof(m.text) - 1);
}

static void no_message_yet_is_eagain(void **state)
{
	struct pair *p = *state;
	struct control m;

	assert_int_equal(control_receive(p->fd[1], &m), -EAGAIN);
}

static void closed_side_is_reported_as_the_end(void **state)
{
	struct pair *p = *state;
	struct control m;

	close(p->fd[0]);
	p->fd[0] = -1;
	assert_int_equal(control_receive(p->fd[1], &m), 0);
}

static void side_that_died_with_unread_messages_is_the_end(void **state)
{
	struct pair *p = *state;
	struct control m;

	control_send(p->fd[1], CONTROL_START, 0, 0, NULL);
	close(p->fd[0]);
	p->fd[0] = -1;
	assert_int_equal(control_receive(p->fd[1], &m), 0);
}

static void sending_to_a_closed_socket_fails_without_a_signal(void **state)
{
	struct pair *p = *state;

	close(p->fd[1]);
	p->fd[1] = -1;
	assert_int_equal(control_send(p->fd[0], CONTROL_READY, 0, 0, NULL), -EPIPE);
}

static void packet_of_another_size_is_no_message(void **state)
{
	struct pair *p = *state;
	struct control m;

	assert_int_equal(send(p->fd[0], "abc", 3, 0), 3);
	assert_int_equal(control_receive(p->fd[1], &m), -EBADMSG);
}

#define PAIR_TEST(test) cmocka_unit_test_setup_teardown(test, pair_make, pair_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(message_arrives_as_it_was_sent),
		PAIR_TEST(messages_stay_apart),
		PAIR_TEST(long_text_is_cut_and_ended),
		PAIR_TEST(no_message_yet_is_eagain),
		PAIR_TEST(closed_side_is_reported_as_the_end),
		PAIR_TEST(side_that_died_with_unread_messages_is_the_end),
		PAIR_TEST(sending_to_a_closed_socket_fails_without_a_signal),
		PAIR_TEST(packet_of_another_size_is_no_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
