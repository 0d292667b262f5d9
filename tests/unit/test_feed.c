// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/feed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_BYTES 1024UL
#define LIMIT_BYTES (4 * FEED_QUARTER)

struct channel {
	struct feed feed;
	struct feeds feeds;
	int reader;
};

static int channel_open(void **state)
{
	struct channel *c = calloc(1, sizeof(*c));
	int fd[2];

	*state = c;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -1;
	feed_init(&c->feed, fd[0]);
	feeds_add(&c->feeds, &c->feed);
	c->reader = fd[1];
	return 0;
}

static int channel_close(void **state)
{
	struct channel *c = *state;

	close(c->feed.fd);
	close(c->reader); /* closed already, in some */
	feed_done(&c->feed);
	free(c);
	return 0;
}

/* One line: a quote, @n - 3 letters, a quote and the newline. */
static void put_line(struct feeds *f, char letter, size_t n)
{
	char *text = malloc(n);
	struct jsonw j = { 0 };

	memset(text, letter, n);
	jsonw_bytes(&j, NULL, text, n - 3);
	jsonw_newline(&j);
	assert_int_equal(j.used, n);
	feeds_put(f, &j);
	assert_int_equal(j.used, 0);
	jsonw_done(&j);
	free(text);
}

static void put_lines(struct feeds *f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_line(f, 'a' + (char)(i % 26), LINE_BYTES);
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

	put_line(&c->feeds, 'a', 6);
	put_line(&c->feeds, 'b', 6);
	assert_int_equal(read_all(c->reader, text, sizeof(text)), 0);
	feed_flush(&c->feed);
	assert_int_equal(read_all(c->reader, text, sizeof(text)), 12);
	assert_memory_equal(text, "\"aaa\"\n\"bbb\"\n", 12);
	assert_false(feed_is_waiting(&c->feed));
}

static void long_queue_is_flushed_on_the_way(void **state)
{
	struct channel *c = *state;
	char text[64];

	put_lines(&c->feeds, 40);
	assert_int_equal(read_all(c->reader, text, sizeof(text)), sizeof(text));
	assert_int_equal(c->feed.dropped, 0);
}

static void flushing_nothing_is_harmless(void **state)
{
	struct channel *c = *state;

	feed_flush(&c->feed);
	feed_flush_whole(&c->feed, NULL);
	assert_false(c->feed.is_broken);
}

static void lines_that_do_not_fit_are_dropped_and_counted(void **state)
{
	struct channel *c = *state;

	put_lines(&c->feeds, 2 * LIMIT_BYTES / LINE_BYTES);
	assert_int_not_equal(c->feed.dropped, 0);
	assert_in_range(c->feed.room, 1, LIMIT_BYTES);
	assert_in_range(c->feed.used, LIMIT_BYTES - LINE_BYTES + 1, LIMIT_BYTES);
	assert_false(c->feed.is_broken);
}

static void what_was_kept_arrives_whole(void **state)
{
	struct channel *c = *state;
	const size_t put = 2 * LIMIT_BYTES / LINE_BYTES;
	char *text = malloc(2 * LIMIT_BYTES);
	size_t used = 0, n;

	put_lines(&c->feeds, put);
	while ((n = read_all(c->reader, text + used, 2 * LIMIT_BYTES - used))) {
		used += n;
		feed_flush(&c->feed);
	}
	assert_int_equal(used, (put - c->feed.dropped) * LINE_BYTES);
	assert_int_equal(text[used - 1], '\n');
	assert_false(feed_is_waiting(&c->feed));
	free(text);
}

static void room_comes_back_when_the_reader_does(void **state)
{
	struct channel *c = *state;
	char *text = malloc(2 * LIMIT_BYTES);
	uint64_t dropped;

	put_lines(&c->feeds, 2 * LIMIT_BYTES / LINE_BYTES);
	dropped = c->feed.dropped;
	read_all(c->reader, text, 2 * LIMIT_BYTES);
	feed_flush(&c->feed);
	put_lines(&c->feeds, 10);
	assert_int_equal(c->feed.dropped, dropped);
	free(text);
}

static void put_spare(struct feeds *f)
{
	struct jsonw j = { 0 };

	for (int i = 0; i < 3; i++) {
		jsonw_string(&j, NULL, "spare");
		jsonw_newline(&j);
	}
	feeds_put_spare(f, &j, 3);
	assert_int_equal(j.used, 0);
	jsonw_done(&j);
}

static void what_can_be_spared_goes_first_and_is_counted_by_lines(void **state)
{
	struct channel *c = *state;
	uint64_t used;

	put_spare(&c->feeds);
	assert_int_equal(c->feed.used, 3 * strlen("\"spare\"\n"));
	assert_int_equal(c->feed.spared, 0);
	put_lines(&c->feeds, LIMIT_BYTES / 2 / LINE_BYTES);
	used = c->feed.used;
	put_spare(&c->feeds);
	put_spare(&c->feeds);
	assert_int_equal(c->feed.used, used);
	assert_int_equal(c->feed.spared, 6);
	put_lines(&c->feeds, 1); /* there is room for others */
	assert_int_equal(c->feed.dropped, 0);
}

static bool offer(struct feeds *f)
{
	struct jsonw j = { 0 };
	bool fits;

	jsonw_string(&j, NULL, "offered");
	jsonw_newline(&j);
	fits = feeds_offer(f, &j, FEED_QUARTER);
	assert_int_equal(j.used, 0);
	jsonw_done(&j);
	return fits;
}

static void optional_lines_are_dropped_first_and_are_not_a_loss(void **state)
{
	struct channel *c = *state;
	uint64_t used;

	assert_true(offer(&c->feeds));
	assert_int_equal(c->feed.used, strlen("\"offered\"\n"));
	put_lines(&c->feeds, LIMIT_BYTES / 2 / LINE_BYTES);
	used = c->feed.used;
	assert_false(offer(&c->feeds));
	assert_int_equal(c->feed.used, used);
	assert_int_equal(c->feed.spared + c->feed.dropped, 0);
}

static void lines_offered_to_a_broken_stream_are_not_taken(void **state)
{
	struct channel *c = *state;

	c->feed.is_broken = true;
	assert_false(offer(&c->feeds));
	assert_int_equal(c->feed.spared + c->feed.dropped, 0);
}

static void line_without_memory_is_dropped_and_counted(void **state)
{
	struct channel *c = *state;
	struct jsonw j = { .failed = true };

	feeds_put(&c->feeds, &j);
	assert_int_equal(c->feed.dropped, 1);
	assert_false(j.failed);
}

static void peer_that_is_gone_breaks_the_feed_without_a_signal(void **state)
{
	struct channel *c = *state;

	close(c->reader);
	c->reader = -1;
	put_line(&c->feeds, 'a', 6);
	feed_flush(&c->feed);
	assert_true(c->feed.is_broken);
	assert_false(feed_is_waiting(&c->feed));
}

static void broken_feed_takes_nothing_and_ends_at_once(void **state)
{
	struct channel *c = *state;

	c->feed.is_broken = true;
	put_line(&c->feeds, 'a', 6);
	feed_flush_whole(&c->feed, NULL);
	assert_int_equal(c->feed.used, 0);
	assert_int_equal(c->feed.dropped, 0); /* nobody is there to miss it */
}

static void reader_that_reads_nothing_is_given_up_after_the_launcher(void **state)
{
	struct patience p = { .watched_fd = -1, .limit_ns = NSEC_PER_MSEC };
	struct channel *c = *state;

	for (int i = 0; i < 1000; i++)
		put_line(&c->feeds, 'a', LINE_BYTES);
	feed_flush_whole(&c->feed, &p);
	assert_true(c->feed.is_broken);
}

#define LISTENERS 50

static void listener_that_does_not_read_is_the_only_one_to_lose_lines(void **state)
{
	const size_t put = 2 * LIMIT_BYTES / LINE_BYTES;
	struct feed all[LISTENERS];
	struct feeds feeds = { 0 };
	int readers[LISTENERS], fd[2];
	char *text = malloc(LIMIT_BYTES);

	(void)state;
	for (int i = 0; i < LISTENERS; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
		feed_init(&all[i], fd[0]);
		feeds_add(&feeds, &all[i]);
		readers[i] = fd[1];
	}
	close(readers[1]); /* dies */
	for (size_t n = 0; n < put; n++) {
		put_line(&feeds, 'a', LINE_BYTES);
		if (n % 16)
			continue;
		feeds_flush(&feeds);
		for (int i = 2; i < LISTENERS; i++)
			read_all(readers[i], text, LIMIT_BYTES);
	}
	assert_int_not_equal(all[0].dropped, 0);
	assert_false(all[0].is_broken);
	assert_true(all[1].is_broken);
	assert_int_equal(all[1].dropped, 0);
	for (int i = 2; i < LISTENERS; i++) {
		assert_int_equal(all[i].dropped, 0);
		assert_false(all[i].is_broken);
	}
	assert_false(feeds_have_room(&feeds));
	feeds_remove(&feeds, &all[0]);
	assert_true(feeds_have_room(&feeds));
	for (int i = 0; i < LISTENERS; i++) {
		close(all[i].fd);
		if (i != 1)
			close(readers[i]);
		feed_done(&all[i]);
	}
	free(text);
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

	put_lines(&c->feeds, 3000);
	assert_true(feed_is_waiting(&c->feed));
	child = reader_start(c->reader, 3000 * LINE_BYTES);
	feed_flush_whole(&c->feed, NULL);
	assert_false(feed_is_waiting(&c->feed));
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

static bool may_hold_none(void *context, size_t bytes)
{
	*(size_t *)context += bytes;
	return false;
}

/* Beyond what is its own nothing waits, and what was sent leaves no memory behind. */
static void feed_holds_what_its_budget_permits(void **state)
{
	struct channel *c = *state;
	size_t asked = 0;
	const struct feed_budget none = { may_hold_none, &asked };
	char text[16384];
	int sent = 2048;

	setsockopt(c->feed.fd, SOL_SOCKET, SO_SNDBUF, &sent, sizeof(sent));
	c->feed.budget = &none;
	put_lines(&c->feeds, 256);
	assert_int_equal(asked, FEED_OWN_BYTES); /* once: it does not ask for each line */
	assert_int_equal(c->feed.room, FEED_OWN_BYTES);
	assert_true(c->feed.dropped);
	assert_false(feeds_have_room(&c->feeds));
	while (feed_is_waiting(&c->feed)) {
		assert_true(read(c->reader, text, sizeof(text)) > 0);
		feed_flush(&c->feed);
	}
	assert_true(feeds_have_room(&c->feeds));
	c->feed.budget = NULL;
	put_lines(&c->feeds, 256);
	assert_true(c->feed.room > FEED_OWN_BYTES);
	while (feed_is_waiting(&c->feed)) {
		assert_true(read(c->reader, text, sizeof(text)) > 0);
		feed_flush(&c->feed);
	}
	assert_int_equal(c->feed.room, 0);
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
		CHANNEL_TEST(optional_lines_are_dropped_first_and_are_not_a_loss),
		CHANNEL_TEST(lines_offered_to_a_broken_stream_are_not_taken),
		CHANNEL_TEST(line_without_memory_is_dropped_and_counted),
		CHANNEL_TEST(peer_that_is_gone_breaks_the_feed_without_a_signal),
		CHANNEL_TEST(broken_feed_takes_nothing_and_ends_at_once),
		CHANNEL_TEST(reader_that_reads_nothing_is_given_up_after_the_launcher),
		CHANNEL_TEST(feed_holds_what_its_budget_permits),
		cmocka_unit_test(listener_that_does_not_read_is_the_only_one_to_lose_lines),
		CHANNEL_TEST(flush_whole_waits_for_a_slow_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
