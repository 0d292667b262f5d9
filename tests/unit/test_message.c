// SPDX-License-Identifier: BSD-2-Clause
/* Texts in parts and descriptors over a control socket; and packets that are none of these. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT (1 << 20)

struct talk {
	int fd[2];
	struct message message;
	struct control control;
};

static int talk_make(void **state)
{
	struct talk *t = calloc(1, sizeof(*t));

	*state = t;
	t->message.limit = LIMIT;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, t->fd);
}

static int talk_close(void **state)
{
	struct talk *t = *state;

	message_done(&t->message);
	close(t->fd[0]); /* closed already, in some */
	close(t->fd[1]);
	free(t);
	return 0;
}

static int receive(struct talk *t)
{
	return message_receive(&t->message, t->fd[1], &t->control);
}

static int send_text(struct talk *t, const char *text, const int *fds, size_t nr_fds)
{
	return message_send(t->fd[0], CONTROL_REQUEST, text, strlen(text), fds, nr_fds, 0);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void short_text_arrives(void **state)
{
	struct talk *t = *state;

	assert_int_equal(send_text(t, "hello", NULL, 0), 0);
	assert_int_equal(receive(t), 1);
	assert_int_equal(t->control.type, CONTROL_REQUEST);
	assert_int_equal(t->message.length, 5);
	assert_string_equal(t->message.text, "hello");
}

static void *send_long(void *state)
{
	static char text[LIMIT];
	const struct talk *t = state;

	memset(text, 'x', sizeof(text));
	text[LIMIT - 1] = 'y';
	if (message_send(t->fd[0], CONTROL_SUMMARY, text, sizeof(text), NULL, 0, -1))
		return state;
	return NULL;
}

static void text_that_no_socket_holds_at_once_arrives_whole(void **state)
{
	struct talk *t = *state;
	pthread_t sender;
	void *failed;
	int got;

	assert_int_equal(pthread_create(&sender, NULL, send_long, t), 0);
	do
		got = receive(t);
	while (got == -EAGAIN);
	pthread_join(sender, &failed);
	assert_null(failed);
	assert_int_equal(got, 1);
	assert_int_equal(t->message.length, LIMIT);
	assert_int_equal(strspn(t->message.text, "x"), LIMIT - 1);
	assert_int_equal(t->message.text[LIMIT - 1], 'y');
}

static void sender_does_not_wait_for_ever(void **state)
{
	static char text[LIMIT];
	struct talk *t = *state;

	memset(text, 'x', sizeof(text));
	assert_int_equal(message_send(t->fd[0], CONTROL_REQUEST, text, LIMIT, NULL, 0, 10),
			 -ETIMEDOUT);
}

static void sender_without_receiver_fails(void **state)
{
	struct talk *t = *state;

	close(t->fd[1]);
	t->fd[1] = -1;
	assert_int_equal(send_text(t, "hello", NULL, 0), -EPIPE);
}

static void descriptors_come_with_the_text_and_are_the_same_files(void **state)
{
	struct talk *t = *state;
	struct stat sent, came;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(send_text(t, "hello", fds, 2), 0);
	assert_int_equal(fstat(fds[0], &sent), 0);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(receive(t), 1);
	assert_int_equal(t->message.nr_fds, 2);
	assert_int_equal(fstat(t->message.fds[0], &came), 0);
	assert_int_equal(sent.st_ino, came.st_ino);
	assert_int_equal(fcntl(t->message.fds[1], F_GETFD), FD_CLOEXEC);
}

static void descriptors_that_were_not_taken_are_closed(void **state)
{
	struct talk *t = *state;
	int kept, left;

	assert_int_equal(send_text(t, "hello", t->fd, 2), 0);
	assert_int_equal(receive(t), 1);
	kept = t->message.fds[0];
	left = t->message.fds[1];
	t->message.fds[0] = -1;
	message_done(&t->message);
	assert_true(is_open(kept));
	assert_false(is_open(left));
	close(kept);
}

static void message_without_parts_stays_what_it_is(void **state)
{
	struct talk *t = *state;

	assert_int_equal(control_send(t->fd[0], CONTROL_START, 3, 4, "now"), 0);
	assert_int_equal(receive(t), 1);
	assert_int_equal(t->control.type, CONTROL_START);
	assert_int_equal(t->control.when_ns, 4);
	assert_int_equal(t->message.type, 0);
}

static void nothing_yet_and_the_end_are_told_apart(void **state)
{
	struct talk *t = *state;

	assert_int_equal(receive(t), -EAGAIN);
	close(t->fd[0]);
	t->fd[0] = -1;
	assert_int_equal(receive(t), 0);
}

static void part_that_promises_more_waits_for_it(void **state)
{
	struct talk *t = *state;
	struct control part = { .type = CONTROL_REQUEST, .value = 2, .when_ns = 1, .text = "ab" };

	assert_int_equal(message_add(&t->message, &part), 0);
	part = (struct control){ .type = CONTROL_REQUEST, .value = 1, .text = "c" };
	assert_int_equal(message_add(&t->message, &part), 1);
	assert_string_equal(t->message.text, "abc");
}

static int add_after_two_of_ten(struct talk *t, uint32_t type, int32_t bytes, uint64_t rest)
{
	struct control part = { .type = CONTROL_REQUEST, .value = 2, .when_ns = 8, .text = "ab" };

	message_done(&t->message);
	assert_int_equal(message_add(&t->message, &part), 0);
	part.type = type;
	part.value = bytes;
	part.when_ns = rest;
	return message_add(&t->message, &part);
}

static void part_that_does_not_go_on_where_the_last_one_ended_is_none(void **state)
{
	struct talk *t = *state;

	assert_int_equal(add_after_two_of_ten(t, CONTROL_REQUEST, 3, 5), 0);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_SUMMARY, 3, 5), -EBADMSG);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_START, 3, 5), -EBADMSG);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_REQUEST, 3, 4), -EBADMSG);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_REQUEST, 3, 6), -EBADMSG);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_REQUEST, 9, 0), -EBADMSG);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_REQUEST, 0, 8), -EBADMSG);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_REQUEST, -3, 5), -EBADMSG);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_REQUEST, INT32_MIN, 5), -EBADMSG);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_REQUEST, 1024, 0), -EBADMSG);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_REQUEST, 3, UINT64_MAX), -EBADMSG);
	assert_int_equal(add_after_two_of_ten(t, CONTROL_REQUEST, 3, UINT64_MAX - 2), -EBADMSG);
}

static int add_first(struct talk *t, int32_t bytes, uint64_t rest)
{
	struct control part = { .type = CONTROL_REQUEST, .value = bytes, .when_ns = rest };

	message_done(&t->message);
	return message_add(&t->message, &part);
}

static void text_beyond_the_limit_is_refused_before_there_is_memory_for_it(void **state)
{
	struct talk *t = *state;

	assert_int_equal(add_first(t, 2, LIMIT - 2), 0);
	assert_int_equal(add_first(t, 2, LIMIT - 1), -EMSGSIZE);
	assert_int_equal(add_first(t, 2, UINT64_MAX), -EMSGSIZE);
	assert_int_equal(add_first(t, 2, UINT64_MAX - 1), -EMSGSIZE);
	assert_null(t->message.text);
}

static void packet_of_another_size_is_no_message(void **state)
{
	struct talk *t = *state;
	char large[2 * sizeof(struct control)] = { CONTROL_START };

	assert_int_equal(send(t->fd[0], "abc", 3, 0), 3);
	assert_int_equal(receive(t), -EBADMSG);
	assert_int_equal(send(t->fd[0], large, sizeof(large), 0), sizeof(large));
	assert_int_equal(receive(t), -EBADMSG);
}

static int send_with(struct talk *t, const struct control *c, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} r = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec at = { (void *)(uintptr_t)c, sizeof(*c) };
	struct msghdr h = { .msg_iov = &at,
			    .msg_iovlen = 1,
			    .msg_control = r.room,
			    .msg_controllen = sizeof(r.room) };

	memcpy(CMSG_DATA(&r.header), &fd, sizeof(fd));
	return sendmsg(t->fd[0], &h, 0) == sizeof(*c) ? 0 : -errno;
}

/* The write end of a pipe, given away: at its end the reader sees whether any process has it. */
static void give_away(struct talk *t, const struct control *c, int *reader)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(send_with(t, c, fds[1]), 0);
	close(fds[1]);
	*reader = fds[0];
}

static void descriptors_where_none_are_expected_are_refused_and_closed(void **state)
{
	const struct control start = { .type = CONTROL_START };
	struct control part = { .type = CONTROL_REQUEST, .value = 1, .when_ns = 1, .text = "a" };
	struct talk *t = *state;
	int reader;
	char byte;

	give_away(t, &start, &reader);
	assert_int_equal(receive(t), -EBADMSG);
	message_done(&t->message);
	assert_int_equal(read(reader, &byte, 1), 0);
	close(reader);
	assert_int_equal(send(t->fd[0], &part, sizeof(part), 0), sizeof(part));
	part.when_ns = 0;
	give_away(t, &part, &reader);
	assert_int_equal(receive(t), -EBADMSG);
	assert_int_equal(read(reader, &byte, 1), 0);
	close(reader);
}

static void next_message_begins_when_the_last_one_is_done_with(void **state)
{
	struct talk *t = *state;

	assert_int_equal(send_text(t, "first", NULL, 0), 0);
	assert_int_equal(send_text(t, "second", NULL, 0), 0);
	assert_int_equal(receive(t), 1);
	assert_string_equal(t->message.text, "first");
	message_done(&t->message);
	assert_int_equal(receive(t), 1);
	assert_string_equal(t->message.text, "second");
}

static void packets_of_a_peer_that_did_not_read_all_before_it_closed_arrive(void **state)
{
	struct talk *t = *state;

	assert_int_equal(control_send(t->fd[1], CONTROL_KILL, 0, 0, NULL), 0);
	assert_int_equal(control_send(t->fd[0], CONTROL_LIVING, 1, 0, NULL), 0);
	assert_int_equal(control_send(t->fd[0], CONTROL_LIVING, 2, 0, NULL), 0);
	close(t->fd[0]);
	assert_int_equal(receive(t), 1);
	assert_int_equal(t->control.value, 1);
	assert_int_equal(control_receive(t->fd[1], &t->control), 1);
	assert_int_equal(t->control.value, 2);
	assert_int_equal(receive(t), 0);
}

#define TALK_TEST(test) cmocka_unit_test_setup_teardown(test, talk_make, talk_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TALK_TEST(short_text_arrives),
		TALK_TEST(text_that_no_socket_holds_at_once_arrives_whole),
		TALK_TEST(sender_does_not_wait_for_ever),
		TALK_TEST(sender_without_receiver_fails),
		TALK_TEST(descriptors_come_with_the_text_and_are_the_same_files),
		TALK_TEST(descriptors_that_were_not_taken_are_closed),
		TALK_TEST(message_without_parts_stays_what_it_is),
		TALK_TEST(nothing_yet_and_the_end_are_told_apart),
		TALK_TEST(part_that_promises_more_waits_for_it),
		TALK_TEST(part_that_does_not_go_on_where_the_last_one_ended_is_none),
		TALK_TEST(text_beyond_the_limit_is_refused_before_there_is_memory_for_it),
		TALK_TEST(packet_of_another_size_is_no_message),
		TALK_TEST(descriptors_where_none_are_expected_are_refused_and_closed),
		TALK_TEST(next_message_begins_when_the_last_one_is_done_with),
		TALK_TEST(packets_of_a_peer_that_did_not_read_all_before_it_closed_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
