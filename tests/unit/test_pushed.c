// SPDX-License-Identifier: BSD-2-Clause
/* Waiting datagrams of senders not known yet are bounded in bytes, and leave room for others. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/pushed.h"

#include <stdlib.h>
#include <string.h>

#define KNOWN_PID 100
#define LARGE (64UL << 10)
#define SMALL 40UL

static int pushed_make(void **state)
{
	struct pushed *p = malloc(sizeof(*p));
	struct drain_row row = { .pid = KNOWN_PID, .start_boot_ns = 1 };

	*state = p;
	if (!p)
		return -1;
	pushed_init(p);
	return senders_init(&p->senders) || senders_set_alive(&p->senders, &row, 1);
}

static int pushed_free(void **state)
{
	pushed_done(*state);
	free(*state);
	return 0;
}

/* Metrics of one line. */
static void datagram_put(struct pushed *p, uint32_t pid, size_t length)
{
	struct datagram *l = malloc(sizeof(*l) + length + 1);

	*l = (struct datagram){ .pid = pid, .length = length };
	memset(l->text, 'x', length);
	l->text[length] = '\0';
	pushed_put(p, l, 1);
}

/* All from @pid, or each from a PID of its own from @pid on. */
static void datagrams_put(struct pushed *p, uint32_t pid, bool is_one, int nr, size_t length)
{
	for (int i = 0; i < nr; i++)
		datagram_put(p, pid + (is_one ? 0 : (uint32_t)i), length);
}

static size_t bytes_waiting(const struct pushed *p)
{
	size_t bytes = 0;

	for (const struct datagram *l = p->waiting; l; l = l->next)
		bytes += sizeof(*l) + l->length;
	return bytes;
}

static void large_datagrams_wait_up_to_the_limit_of_bytes(void **state)
{
	struct pushed *p = *state;

	datagrams_put(p, KNOWN_PID, true, 8192, LARGE);
	assert_in_range(p->waiting_bytes, PUSHED_WAITING_BYTES - 2 * LARGE, PUSHED_WAITING_BYTES);
	assert_int_equal(p->waiting_bytes, bytes_waiting(p));
	assert_int_equal(p->nr_waiting + p->counts.dropped, 8192);
}

static void an_unknown_pid_gets_its_share_and_no_more(void **state)
{
	struct pushed *p = *state;
	size_t kept;

	datagrams_put(p, 7, true, 9000, SMALL);
	assert_in_range(p->waiting_bytes, PUSHED_SHARE_BYTES / 2, PUSHED_SHARE_BYTES);
	assert_int_equal(p->nr_waiting + p->counts.dropped, 9000);
	kept = p->nr_waiting;
	datagram_put(p, 8, SMALL);
	assert_int_equal(p->nr_waiting, kept + 1);
	assert_int_equal(p->waiting_bytes, bytes_waiting(p));
}

static void many_unknown_pids_leave_room_for_known_ones(void **state)
{
	struct pushed *p = *state;
	size_t unknown;

	datagrams_put(p, 1000, false, 1000, LARGE);
	assert_in_range(p->unknown_bytes, PUSHED_UNKNOWN_BYTES - 2 * LARGE, PUSHED_UNKNOWN_BYTES);
	unknown = p->nr_waiting;
	datagrams_put(p, KNOWN_PID, true, 10, LARGE);
	assert_int_equal(p->nr_waiting, unknown + 10);
}

static void removing_a_datagram_frees_its_room(void **state)
{
	struct pushed *p = *state;
	size_t kept;

	datagrams_put(p, 7, true, 9000, SMALL);
	kept = p->nr_waiting;
	pushed_remove(p, &p->waiting->next);
	datagrams_put(p, 7, true, 2, SMALL);
	assert_int_equal(p->nr_waiting, kept);
	while (p->waiting)
		pushed_remove(p, &p->waiting);
	assert_int_equal(p->nr_waiting + p->waiting_bytes + p->unknown_bytes + p->shares[7], 0);
	datagram_put(p, KNOWN_PID, SMALL);
	assert_int_equal(p->nr_waiting, 1);
	assert_int_equal(p->waiting->pid, KNOWN_PID);
}

static void a_datagram_can_be_appended_after_the_last_was_removed(void **state)
{
	struct pushed *p = *state;

	datagram_put(p, KNOWN_PID, 1);
	datagram_put(p, KNOWN_PID, 2);
	pushed_remove(p, &p->waiting->next);
	datagram_put(p, KNOWN_PID, 3);
	assert_int_equal(p->waiting->length, 1);
	assert_int_equal(p->waiting->next->length, 3);
	assert_null(p->waiting->next->next);
}

#define PUSHED_TEST(test) cmocka_unit_test_setup_teardown(test, pushed_make, pushed_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUSHED_TEST(large_datagrams_wait_up_to_the_limit_of_bytes),
		PUSHED_TEST(an_unknown_pid_gets_its_share_and_no_more),
		PUSHED_TEST(many_unknown_pids_leave_room_for_known_ones),
		PUSHED_TEST(removing_a_datagram_frees_its_room),
		PUSHED_TEST(a_datagram_can_be_appended_after_the_last_was_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
