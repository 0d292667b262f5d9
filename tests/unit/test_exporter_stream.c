// SPDX-License-Identifier: BSD-2-Clause
/* The lines of the stream as they are read, and whose connections are ended. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fixture.h"
#include "http/connections.h"
#include "board/board_intake.h"

#include <errno.h>
#include <stdlib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

struct heard {
	char text[256]; /* the lines; "!" for one that was too long */
	size_t longest;
};

static void hear(void *context, const char *text, size_t length)
{
	struct heard *h = context;
	size_t used = strlen(h->text);

	if (length > h->longest)
		h->longest = length;
	if (length > 32)
		return;
	snprintf(h->text + used, sizeof(h->text) - used, "%.*s", text ? (int)length : 1,
		 text ? text : "!");
}

static void bytes_become_lines(void **state)
{
	static const char *const parts[] = { "on", "e\ntwo\nthr", "e", "e\n", "\nfour" };
	struct line_stream lines = { .most = STREAM_LINE_BYTES };
	struct heard h = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		assert_int_equal(write(fds[1], parts[i], strlen(parts[i])), strlen(parts[i]));
		assert_int_equal(line_stream_read(&lines, fds[0], hear, &h), 0);
	}
	assert_string_equal(h.text, "one\ntwo\nthree\n\n");
	close(fds[1]);
	assert_int_equal(line_stream_read(&lines, fds[0], hear, &h), -ENODATA);
	assert_string_equal(h.text, "one\ntwo\nthree\n\n"); /* four has no end */
	close(fds[0]);
	line_stream_done(&lines);
}

/* Writes @n bytes and reads them. */
static void pour(int fds[2], size_t n, struct line_stream *lines, struct heard *h)
{
	static char bytes[4096];

	memset(bytes, 'x', sizeof(bytes));
	for (size_t part; n; n -= part) {
		part = n < sizeof(bytes) ? n : sizeof(bytes);
		assert_int_equal(write(fds[1], bytes, part), part);
		assert_int_equal(line_stream_read(lines, fds[0], hear, h), 0);
	}
}

static void line_that_is_too_long_is_left_out_and_costs_no_memory(void **state)
{
	struct line_stream lines = { .most = STREAM_LINE_BYTES };
	struct heard h = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pour(fds, 3 * STREAM_LINE_BYTES, &lines, &h);
	assert_in_range(lines.room, 1, 4 * STREAM_LINE_BYTES);
	assert_int_equal(write(fds[1], "\nnext\n", 6), 6);
	assert_int_equal(line_stream_read(&lines, fds[0], hear, &h), 0);
	assert_string_equal(h.text, "!next\n");
	pour(fds, STREAM_LINE_BYTES - 1, &lines, &h); /* the longest that is taken */
	assert_int_equal(write(fds[1], "\n", 1), 1);
	assert_int_equal(line_stream_read(&lines, fds[0], hear, &h), 0);
	assert_int_equal(h.longest, STREAM_LINE_BYTES);
	close(fds[0]);
	close(fds[1]);
	line_stream_done(&lines);
}

static void file_and_standard_input_are_streams(void **state)
{
	const struct place *p = *state;
	char why[256];
	int fd;

	assert_int_equal(stream_open(p->path, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, p->path));
	file_write(p->path, "x");
	fd = stream_open(p->path, why, sizeof(why));
	assert_true(fd >= 0);
	close(fd);
	fd = stream_open("-", why, sizeof(why));
	assert_true(fd > 2);
	close(fd);
	assert_true(stream_is_socket("unix:/nowhere/socket"));
	assert_int_equal(stream_open("unix:/nowhere/socket", why, sizeof(why)), -ENOENT);
}

/* Whether the other end sees the end. */
static bool is_ended(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == 0;
}

/* A connection of a user; whether it was taken. */
static bool connect_as(struct connections *c, int ends[2], uid_t uid, uint64_t now_ns)
{
	const struct peer peer = { PEER_USER, uid, uid };

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	if (!connections_admit(c, ends[0], &peer, now_ns))
		return false;
	connections_begin(c, ends[0]);
	return true;
}

static void connections_end_all(struct connections *c, int (*ends)[2], size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		connections_close(c, ends[i][0]);
		close(ends[i][0]);
		close(ends[i][1]);
	}
	connections_done(c);
}

static void oldest_connection_of_whom_has_most_gives_way(void **state)
{
	const uint64_t now = 1000 * NSEC_PER_SEC;
	struct connections c;
	int ends[6][2];

	(void)state;
	connections_init(&c, 4, CONNECTION_NO_OWNER);
	for (int i = 0; i < 3; i++)
		assert_true(connect_as(&c, ends[i], 65534, now + (uint64_t)i));
	assert_true(connect_as(&c, ends[3], 1000, now));
	/* nor does it help to come again at once */
	assert_false(connect_as(&c, ends[5], 65534, now + 10));
	close(ends[5][0]);
	close(ends[5][1]);
	assert_false(is_ended(ends[0][1]));
	assert_true(connect_as(&c, ends[4], 1000, now + 10));
	assert_true(is_ended(ends[0][1]));
	assert_false(is_ended(ends[1][1]) || is_ended(ends[3][1]));
	/* two each: of its own the oldest, if that has had its time */
	assert_true(connect_as(&c, ends[5], 65534, now + 2 * NSEC_PER_SEC));
	assert_true(is_ended(ends[1][1]));
	assert_false(is_ended(ends[2][1]) || is_ended(ends[3][1]) || is_ended(ends[4][1]));
	connections_end_all(&c, ends, 6);
}

static void owner_and_who_has_shown_a_token_do_not_give_way(void **state)
{
	const uint64_t now = 1000 * NSEC_PER_SEC;
	struct connections c;
	int ends[5][2], refused[2];

	(void)state;
	connections_init(&c, 3, 1000);
	assert_true(connect_as(&c, ends[0], 1000, now));
	assert_true(connect_as(&c, ends[1], 1000, now));
	assert_true(connect_as(&c, ends[2], 1001, now));
	connections_trust(&c, ends[2][0]);
	assert_false(connect_as(&c, refused, 65534, now + 100 * NSEC_PER_SEC));
	close(refused[0]);
	close(refused[1]);
	connections_close(&c, ends[1][0]);
	assert_true(connect_as(&c, ends[3], 65534, now));
	/* the owner has as many as the other, and comes before it */
	assert_true(connect_as(&c, ends[4], 1000, now));
	assert_true(is_ended(ends[3][1]));
	assert_false(is_ended(ends[0][1]) || is_ended(ends[2][1]));
	connections_end_all(&c, ends, 5);
}

static void slow_readers_of_one_user_do_not_take_all_answers(void **state)
{
	const uint64_t now = 1000 * NSEC_PER_SEC;
	struct connections c;
	int ends[4][2];

	(void)state;
	connections_init(&c, 8, CONNECTION_NO_OWNER);
	for (int i = 0; i < 3; i++)
		assert_true(connect_as(&c, ends[i], 65534, now + (uint64_t)i));
	assert_true(connect_as(&c, ends[3], 1000, now));
	assert_true(connections_send(&c, ends[0][0], 2, now));
	assert_true(connections_send(&c, ends[1][0], 2, now + 1));
	assert_false(connections_send(&c, ends[2][0], 2, now + 2));
	assert_true(connections_send(&c, ends[3][0], 2, now + 3));
	assert_true(is_ended(ends[0][1]));
	assert_false(is_ended(ends[1][1]));
	connections_answer(&c, ends[1][0], now + 4);
	assert_true(connections_send(&c, ends[2][0], 2, now + 5));
	connections_end_all(&c, ends, 4);
}

/* A connection to itself, and what is accepted. */
static void loopback_connect(int family, int *client, int *server, struct sockaddr_storage *from)
{
	struct sockaddr_storage at = { .ss_family = (sa_family_t)family };
	socklen_t bytes = sizeof(at), from_bytes = sizeof(*from);
	int port = socket(family, SOCK_STREAM, 0);

	assert_int_equal(
		bind(port, (struct sockaddr *)&at,
		     family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6)),
		0);
	assert_int_equal(listen(port, 1), 0);
	assert_int_equal(getsockname(port, (struct sockaddr *)&at, &bytes), 0);
	/* by IPv4 to a port of IPv6, too */
	if (family == AF_INET6)
		*(struct sockaddr_in *)&at = (struct sockaddr_in){
			.sin_family = AF_INET,
			.sin_port = ((struct sockaddr_in6 *)&at)->sin6_port,
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		};
	*client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(*client, (struct sockaddr *)&at, sizeof(struct sockaddr_in)), 0);
	*server = accept(port, (struct sockaddr *)from, &from_bytes);
	assert_true(*server >= 0);
	close(port);
}

/* A socket that has no process any more is said to be root's, but is nobody's. */
static void kernel_says_who_is_at_the_other_end(void **state)
{
	const int families[] = { AF_INET, AF_INET6 };
	int diagnosis = peer_open();

	(void)state;
	for (size_t i = 0; diagnosis >= 0 && i < 2; i++) {
		struct sockaddr_storage from;
		int client, server;
		struct peer peer;

		loopback_connect(families[i], &client, &server, &from);
		peer_find(diagnosis, server, &from, &peer);
		assert_int_equal(peer.kind, PEER_USER);
		assert_int_equal(peer.uid, geteuid());
		close(client);
		peer_find(diagnosis, server, &from, &peer);
		assert_int_equal(peer.kind, PEER_GONE);
		peer_find(-1, server, &from, &peer);
		assert_int_equal(peer.kind, PEER_ADDRESS);
		close(server);
	}
	close(diagnosis);
}

static void connection_without_an_answer_is_ended(void **state)
{
	struct connections c;
	int slow[2], known[2];

	(void)state;
	connections_init(&c, 2, CONNECTION_NO_OWNER);
	connect_as(&c, slow, 1, 1000 * NSEC_PER_SEC);
	connect_as(&c, known, 1, 1000 * NSEC_PER_SEC);
	connections_answer(&c, known[0], 1010 * NSEC_PER_SEC);
	assert_int_equal(connections_end_slow(&c, 1019 * NSEC_PER_SEC), 0);
	assert_false(is_ended(slow[1]));
	assert_int_equal(connections_end_slow(&c, 1020 * NSEC_PER_SEC), 1);
	assert_true(is_ended(slow[1]));
	assert_int_equal(connections_end_slow(&c, 1129 * NSEC_PER_SEC), 1); /* slow, once more */
	connections_close(&c, slow[0]);
	assert_false(is_ended(known[1]));
	assert_int_equal(connections_end_slow(&c, 1130 * NSEC_PER_SEC), 1);
	assert_true(is_ended(known[1]));
	connections_close(&c, known[0]);
	assert_int_equal(connections_end_slow(&c, 9999 * NSEC_PER_SEC), 0);
	for (int i = 0; i < 2; i++) {
		close(slow[i]);
		close(known[i]);
	}
	connections_done(&c);
}

/* Sends @size bytes, until the client has received and its kernel acknowledged them. */
static void answer_partly(int server, int client, size_t size)
{
	uint64_t acked = tcp_acked_bytes(server);
	char *text = calloc(1, size);

	assert_non_null(text);
	assert_int_equal(send(server, text, size, 0), size);
	assert_int_equal(recv(client, text, size, MSG_WAITALL), size);
	while (tcp_acked_bytes(server) < acked + size)
		sched_yield();
	free(text);
}

static void long_answer_is_not_ended_while_the_client_receives_it(void **state)
{
	const struct peer peer = { PEER_USER, 1, 1 };
	const size_t size = CONNECTION_LEAST_BYTES;
	struct sockaddr_storage from;
	struct connections c;
	int client, server;

	(void)state;
	connections_init(&c, 2, CONNECTION_NO_OWNER);
	loopback_connect(AF_INET, &client, &server, &from);
	assert_true(connections_admit(&c, server, &peer, 1000 * NSEC_PER_SEC));
	connections_begin(&c, server);
	answer_partly(server, client, size);
	assert_int_equal(connections_end_slow(&c, 1020 * NSEC_PER_SEC), 0);
	answer_partly(server, client, size);
	assert_int_equal(connections_end_slow(&c, 1039 * NSEC_PER_SEC), 0);
	assert_int_equal(connections_end_slow(&c, 1040 * NSEC_PER_SEC), 0);
	answer_partly(server, client, 100);
	assert_false(is_ended(client));
	assert_int_equal(connections_end_slow(&c, 1060 * NSEC_PER_SEC), 1);
	assert_true(is_ended(client));
	connections_close(&c, server);
	close(server);
	close(client);
	connections_done(&c);
}

static void trusted_client_may_wait_for_its_first_answer(void **state)
{
	struct connections c;
	int ends[2];

	(void)state;
	connections_init(&c, 2, CONNECTION_NO_OWNER);
	connect_as(&c, ends, 1, 1000 * NSEC_PER_SEC);
	connections_trust(&c, ends[0]);
	assert_int_equal(connections_end_slow(&c, 1119 * NSEC_PER_SEC), 0);
	assert_int_equal(connections_end_slow(&c, 1120 * NSEC_PER_SEC), 1);
	connections_close(&c, ends[0]);
	close(ends[0]);
	close(ends[1]);
	connections_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_lines),
		cmocka_unit_test(line_that_is_too_long_is_left_out_and_costs_no_memory),
		PLACE_TEST(file_and_standard_input_are_streams),
		cmocka_unit_test(connection_without_an_answer_is_ended),
		cmocka_unit_test(long_answer_is_not_ended_while_the_client_receives_it),
		cmocka_unit_test(trusted_client_may_wait_for_its_first_answer),
		cmocka_unit_test(oldest_connection_of_whom_has_most_gives_way),
		cmocka_unit_test(owner_and_who_has_shown_a_token_do_not_give_way),
		cmocka_unit_test(slow_readers_of_one_user_do_not_take_all_answers),
		cmocka_unit_test(kernel_says_who_is_at_the_other_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
