// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "feed/stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_BYTES 1024UL
#define LIMIT_BYTES (4 * STREAM_QUARTER)

struct channel {
	struct stream stream;
	int reader;
};

static int channel_open(void **state)
{
	struct channel *c = calloc(1, sizeof(*c));
	int fd[2];

	*state = c;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -1;
	stream_init(&c->stream, fd[0]);
	c->reader = fd[1];
	return 0;
}

static int channel_close(void **state)
{
	struct channel *c = *state;

	close(c->stream.fd);
	close(c->reader); /* closed already, in some */
	stream_done(&c->stream);
	free(c);
	return 0;
}

/* One line: a quote, @n - 3 letters, a quote and the newline. */
static void put_line(struct stream *s, char letter, size_t n)
{
	char *text = malloc(n);
	struct json j = { 0 };

	memset(text, letter, n);
	jw_bytes(&j, NULL, text, n - 3);
	jw_newline(&j);
	assert_int_equal(j.used, n);
	stream_put(s, &j);
	assert_int_equal(j.used, 0);
	jw_done(&j);
	free(text);
}

static void put_lines(struct stream *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_line(s, 'a' + (char)(i % 26), LINE_BYTES);
}

static size_t read_all(int fd, char *text, size_t n)
{
	size_t used = 0;
	ssize_t got;

	while (used < n && (got = recv(fd, text + used, n - used, MSG_DONTWAIT)) > 0)
		used += (size_t)got;
	return used;
}

static void lines_wait_for_the_flush(void **state)
{
	struct channel *c = *state;
	char text[64];

	put_line(&c->stream, 'a', 6);
	put_line(&c->stream, 'b', 6);
	assert_int_equal(read_all(c->reader, text, sizeof(text)), 0);
	stream_flush(&c->stream);
	assert_int_equal(read_all(c->reader, text, sizeof(text)), 12);
	assert_memory_equal(text, "\"aaa\"\n\"bbb\"\n", 12);
	assert_false(stream_is_waiting(&c->stream));
}

static void long_queue_is_flushed_on_the_way(void **state)
{
	struct channel *c = *state;
	char text[64];

	put_lines(&c->stream, 40);
	assert_int_equal(read_all(c->reader, text, sizeof(text)), sizeof(text));
	assert_int_equal(c->stream.dropped, 0);
}

static void flushing_nothing_is_harmless(void **state)
{
	struct channel *c = *state;

	stream_flush(&c->stream);
	stream_flush_whole(&c->stream);
	assert_false(c->stream.is_broken);
}

static void lines_that_do_not_fit_are_dropped_and_counted(void **state)
{
	struct channel *c = *state;

	put_lines(&c->stream, 2 * LIMIT_BYTES / LINE_BYTES);
	assert_int_not_equal(c->stream.dropped, 0);
	assert_in_range(c->stream.room, 1, LIMIT_BYTES);
	assert_in_range(c->stream.used, LIMIT_BYTES - LINE_BYTES + 1, LIMIT_BYTES);
	assert_false(c->stream.is_broken);
}

static void what_was_kept_arrives_whole(void **state)
{
	struct channel *c = *state;
	const size_t put = 2 * LIMIT_BYTES / LINE_BYTES;
	char *text = malloc(2 * LIMIT_BYTES);
	size_t used = 0, n;

	put_lines(&c->stream, put);
	while ((n = read_all(c->reader, text + used, 2 * LIMIT_BYTES - used))) {
		used += n;
		stream_flush(&c->stream);
	}
	assert_int_equal(used, (put - c->stream.dropped) * LINE_BYTES);
	assert_int_equal(text[used - 1], '\n');
	assert_false(stream_is_waiting(&c->stream));
	free(text);
}

static void room_comes_back_when_the_reader_does(void **state)
{
	struct channel *c = *state;
	char *text = malloc(2 * LIMIT_BYTES);
	uint64_t dropped;

	put_lines(&c->stream, 2 * LIMIT_BYTES / LINE_BYTES);
	dropped = c->stream.dropped;
	read_all(c->reader, text, 2 * LIMIT_BYTES);
	stream_flush(&c->stream);
	put_lines(&c->stream, 10);
	assert_int_equal(c->stream.dropped, dropped);
	free(text);
}

static void put_spare(struct stream *s)
{
	struct json j = { 0 };

	for (int i = 0; i < 3; i++) {
		jw_string(&j, NULL, "spare");
		jw_newline(&j);
	}
	stream_put_spare(s, &j, 3);
	assert_int_equal(j.used, 0);
	jw_done(&j);
}

static void what_can_be_spared_goes_first_and_is_counted_by_lines(void **state)
{
	struct channel *c = *state;
	uint64_t used;

	put_spare(&c->stream);
	assert_int_equal(c->stream.used, 3 * strlen("\"spare\"\n"));
	assert_int_equal(c->stream.spared, 0);
	put_lines(&c->stream, LIMIT_BYTES / 2 / LINE_BYTES);
	used = c->stream.used;
	put_spare(&c->stream);
	put_spare(&c->stream);
	assert_int_equal(c->stream.used, used);
	assert_int_equal(c->stream.spared, 6);
	put_lines(&c->stream, 1); /* there is room for others */
	assert_int_equal(c->stream.dropped, 0);
}

static bool offer(struct stream *s)
{
	struct json j = { 0 };
	bool fits;

	jw_string(&j, NULL, "offered");
	jw_newline(&j);
	fits = stream_offer(s, &j, STREAM_QUARTER);
	assert_int_equal(j.used, 0);
	jw_done(&j);
	return fits;
}

static void what_is_offered_gives_way_and_is_nobodys_loss(void **state)
{
	struct channel *c = *state;
	uint64_t used;

	assert_true(offer(&c->stream));
	assert_int_equal(c->stream.used, strlen("\"offered\"\n"));
	put_lines(&c->stream, LIMIT_BYTES / 2 / LINE_BYTES);
	used = c->stream.used;
	assert_false(offer(&c->stream));
	assert_int_equal(c->stream.used, used);
	assert_int_equal(c->stream.spared + c->stream.dropped, 0);
}

static void what_nobody_reads_is_not_taken(void **state)
{
	struct channel *c = *state;

	c->stream.is_broken = true;
	assert_false(offer(&c->stream));
	assert_int_equal(c->stream.spared + c->stream.dropped, 0);
}

static void line_without_memory_is_dropped_and_counted(void **state)
{
	struct channel *c = *state;
	struct json j = { .failed = true };

	stream_put(&c->stream, &j);
	assert_int_equal(c->stream.dropped, 1);
	assert_false(j.failed);
}

static void peer_that_is_gone_breaks_the_stream_without_a_signal(void **state)
{
	struct channel *c = *state;

	close(c->reader);
	c->reader = -1;
	put_line(&c->stream, 'a', 6);
	stream_flush(&c->stream);
	assert_true(c->stream.is_broken);
	assert_false(stream_is_waiting(&c->stream));
}

static void broken_stream_takes_nothing_and_ends_at_once(void **state)
{
	struct channel *c = *state;

	c->stream.is_broken = true;
	put_line(&c->stream, 'a', 6);
	stream_flush_whole(&c->stream);
	assert_int_equal(c->stream.used, 0);
	assert_int_equal(c->stream.dropped, 0); /* nobody is there to miss it */
}

static void reader_that_reads_nothing_is_given_up_after_the_launcher(void **state)
{
	struct patience p = { .watched_fd = -1, .limit_ns = NSEC_PER_MSEC };
	struct channel *c = *state;

	c->stream.patience = &p;
	for (int i = 0; i < 1000; i++)
		put_line(&c->stream, 'a', LINE_BYTES);
	stream_flush_whole(&c->stream);
	assert_true(c->stream.is_broken);
}

static pid_t reader_start(int fd, size_t n)
{
	char text[4096];
	pid_t child = fork();

	if (child)
		return child;
	while (n) {
		ssize_t got = read(fd, text, sizeof(text));

		if (got <= 0)
			_exit(1);
		n -= (size_t)got;
	}
	_exit(0);
}

static void flush_whole_waits_for_a_slow_reader(void **state)
{
	struct channel *c = *state;
	int status = -1;
	pid_t child;

	put_lines(&c->stream, 3000);
	assert_true(stream_is_waiting(&c->stream));
	child = reader_start(c->reader, 3000 * LINE_BYTES);
	stream_flush_whole(&c->stream);
	assert_false(stream_is_waiting(&c->stream));
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

#define CHANNEL_TEST(test) cmocka_unit_test_setup_teardown(test, channel_open, channel_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHANNEL_TEST(lines_wait_for_the_flush),
		CHANNEL_TEST(long_queue_is_flushed_on_the_way),
		CHANNEL_TEST(flushing_nothing_is_harmless),
		CHANNEL_TEST(lines_that_do_not_fit_are_dropped_and_counted),
		CHANNEL_TEST(what_was_kept_arrives_whole),
		CHANNEL_TEST(room_comes_back_when_the_reader_does),
		CHANNEL_TEST(what_can_be_spared_goes_first_and_is_counted_by_lines),
		CHANNEL_TEST(what_is_offered_gives_way_and_is_nobodys_loss),
		CHANNEL_TEST(what_nobody_reads_is_not_taken),
		CHANNEL_TEST(line_without_memory_is_dropped_and_counted),
		CHANNEL_TEST(peer_that_is_gone_breaks_the_stream_without_a_signal),
		CHANNEL_TEST(broken_stream_takes_nothing_and_ends_at_once),
		CHANNEL_TEST(reader_that_reads_nothing_is_given_up_after_the_launcher),
		CHANNEL_TEST(flush_whole_waits_for_a_slow_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
