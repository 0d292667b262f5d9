// SPDX-License-Identifier: BSD-2-Clause
/* The lines of the stream as they are read, and connections that take too long. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fixture.h"
#include "http/connections.h"
#include "serve/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

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
	struct serve_options o = { 0 };
	char why[256];
	int fd;

	snprintf(o.stream, sizeof(o.stream), "%s", p->path);
	assert_int_equal(stream_open(&o, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, p->path));
	file_write(p->path, "x");
	fd = stream_open(&o, why, sizeof(why));
	assert_true(fd >= 0);
	close(fd);
	strcpy(o.stream, "-");
	fd = stream_open(&o, why, sizeof(why));
	assert_true(fd > 2);
	close(fd);
	strcpy(o.stream, "unix:/nowhere/socket");
	assert_true(stream_is_socket(&o));
	assert_int_equal(stream_open(&o, why, sizeof(why)), -ENOENT);
}

/* Whether the other end sees the end. */
static bool is_ended(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == 0;
}

static void connection_without_an_answer_is_ended(void **state)
{
	struct connections c;
	int slow[2], known[2];

	(void)state;
	connections_init(&c);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, slow), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, known), 0);
	connections_open(&c, slow[0], 1000 * NSEC_PER_SEC);
	connections_open(&c, known[0], 1000 * NSEC_PER_SEC);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_lines),
		cmocka_unit_test(line_that_is_too_long_is_left_out_and_costs_no_memory),
		PLACE_TEST(file_and_standard_input_are_streams),
		cmocka_unit_test(connection_without_an_answer_is_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
