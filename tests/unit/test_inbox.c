// SPDX-License-Identifier: BSD-2-Clause
/* Datagrams are received at once, with their sender and time; the rates that limit them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "measure/pushed.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct endpoint {
	struct pushed pushed;
	int fds[2]; /* to send to, to receive from; the second is the inbox's */
};

static int inbox_make(void **state)
{
	static const int on = 1;
	struct endpoint *p = calloc(1, sizeof(*p));
	struct intake in = { .udp_fds = { -1, -1 } };

	*state = p;
	if (!p || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, p->fds) ||
	    setsockopt(p->fds[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ||
	    setsockopt(p->fds[1], SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		return -1;
	in.marks_fd = p->fds[1];
	pushed_init(&p->pushed);
	return pushed_start(&p->pushed, &in);
}

static int inbox_free(void **state)
{
	struct endpoint *p = *state;

	pushed_done(&p->pushed);
	close(p->fds[0]);
	free(p);
	return 0;
}

static void datagram_send(struct endpoint *p, const char *text, size_t length)
{
	assert_int_equal(send(p->fds[0], text, length, 0), length);
}

/* Stops the inbox; the datagrams that wait then. */
static const struct datagram *inbox_drain(struct endpoint *p)
{
	pushed_stop(&p->pushed, 3);
	return p->pushed.waiting;
}

static void datagrams_arrive_in_order_with_sender_and_time(void **state)
{
	struct endpoint *p = *state;
	uint64_t before = clock_ns(CLOCK_MONOTONIC), boot = clock_ns(CLOCK_BOOTTIME);
	const struct datagram *l;

	datagram_send(p, "one", 3);
	datagram_send(p, "", 0);
	datagram_send(p, "t\0o", 3);
	l = inbox_drain(p);
	assert_string_equal(l->text, "one");
	assert_int_equal(l->pid, getpid());
	assert_int_equal(l->samples, 3);
	assert_false(l->is_udp);
	/* two clocks are read within a millisecond */
	assert_in_range(l->sent_ns, before - NSEC_PER_MSEC, clock_ns(CLOCK_MONOTONIC));
	assert_in_range(l->sent_boot_ns, boot - NSEC_PER_MSEC, clock_ns(CLOCK_BOOTTIME));
	assert_int_equal(l->next->length, 0);
	assert_memory_equal(l->next->next->text, "t\0o", 4);
	assert_null(l->next->next->next);
	assert_int_equal(p->pushed.nr_waiting, 3);
}

static void wake_fd_is_readable_after_a_datagram_has_arrived(void **state)
{
	struct endpoint *p = *state;
	struct pollfd wake = { .fd = p->pushed.inbox.wake_fd, .events = POLLIN };

	assert_int_equal(poll(&wake, 1, 0), 0);
	datagram_send(p, "one", 3);
	assert_int_equal(poll(&wake, 1, -1), 1);
	pushed_receive(&p->pushed, 0);
	assert_int_equal(p->pushed.nr_waiting, 1);
	assert_int_equal(poll(&wake, 1, 0), 0);
}

static void sending_after_the_stop_is_an_error(void **state)
{
	struct endpoint *p = *state;

	datagram_send(p, "before", 6);
	assert_string_equal(inbox_drain(p)->text, "before");
	assert_int_equal(send(p->fds[0], "after", 5, MSG_NOSIGNAL), -1);
	assert_int_equal(errno, ECONNREFUSED);
}

static void a_datagram_that_is_too_large_is_malformed(void **state)
{
	static char text[(64 << 10) + 1];
	struct endpoint *p = *state;

	datagram_send(p, text, sizeof(text));
	datagram_send(p, text, sizeof(text) - 1);
	assert_int_equal(inbox_drain(p)->length, sizeof(text) - 1);
	assert_int_equal(p->pushed.counts.malformed, 1);
	assert_int_equal(p->pushed.nr_waiting, 1);
}

static void a_mark_that_is_too_long_is_malformed_at_once(void **state)
{
	static char text[60000];
	struct endpoint *p = *state;

	memset(text, 'x', sizeof(text));
	memcpy(text, "mark ", 5);
	datagram_send(p, text, sizeof(text));
	datagram_send(p, text, 5 + 1024 + 2);
	datagram_send(p, text, 5 + 1024 + 1); /* a newline at the end does not count */
	memcpy(text, "kram ", 5);
	datagram_send(p, text, sizeof(text));
	assert_int_equal(inbox_drain(p)->length, 5 + 1024 + 1);
	assert_int_equal(p->pushed.nr_waiting, 2);
	assert_int_equal(p->pushed.counts.malformed, 2);
}

static void datagrams_without_room_are_counted_in_lines(void **state)
{
	struct endpoint *p = *state;

	for (int i = 0; i < 6000; i++)
		datagram_send(p, "a b=1\nc d=2\n", 12);
	inbox_drain(p);
	assert_int_equal(p->pushed.nr_waiting * 2 + p->pushed.counts.dropped, 12000);
	assert_true(p->pushed.counts.dropped >= 2 * (6000 - 4096));
}

static void a_mark_counts_as_one_line_and_so_does_an_empty_datagram(void **state)
{
	struct endpoint *p = *state;
	const struct datagram *l;

	datagram_send(p, "mark a\nb\nc", 10);
	datagram_send(p, "", 0);
	datagram_send(p, "a b=1\n\n#\nc d=1", 14);
	l = inbox_drain(p);
	assert_int_equal(datagram_count_lines(l), 1);
	assert_int_equal(datagram_count_lines(l->next), 1);
	assert_int_equal(datagram_count_lines(l->next->next), 2);
}

static void a_rate_allows_its_burst_and_then_what_time_has_earned(void **state)
{
	struct rate r = { 0 };
	int taken = 0;

	(void)state;
	while (rate_take(&r, 1000, 10, 100))
		taken++;
	assert_int_equal(taken, 10);
	assert_false(rate_take(&r, 1009, 10, 100));
	assert_true(rate_take(&r, 1010, 10, 100));
	assert_false(rate_take(&r, 1019, 10, 100));
	for (taken = 0; rate_take(&r, 9000, 10, 100);)
		taken++;
	assert_int_equal(taken, 10);
}

static void a_charge_beyond_the_credit_delays_the_next_use(void **state)
{
	struct rate r = { 0 };

	(void)state;
	assert_true(rate_take(&r, 1000, 10, 100));
	rate_charge(&r, 190);
	assert_false(rate_take(&r, 1100, 10, 100));
	assert_false(rate_take(&r, 1109, 10, 100));
	assert_true(rate_take(&r, 1110, 10, 100));
}

#define INBOX_TEST(test) cmocka_unit_test_setup_teardown(test, inbox_make, inbox_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		INBOX_TEST(datagrams_arrive_in_order_with_sender_and_time),
		INBOX_TEST(wake_fd_is_readable_after_a_datagram_has_arrived),
		INBOX_TEST(sending_after_the_stop_is_an_error),
		INBOX_TEST(a_datagram_that_is_too_large_is_malformed),
		INBOX_TEST(a_mark_that_is_too_long_is_malformed_at_once),
		INBOX_TEST(datagrams_without_room_are_counted_in_lines),
		INBOX_TEST(a_mark_counts_as_one_line_and_so_does_an_empty_datagram),
		cmocka_unit_test(a_rate_allows_its_burst_and_then_what_time_has_earned),
		cmocka_unit_test(a_charge_beyond_the_credit_delays_the_next_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
