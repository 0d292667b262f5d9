// SPDX-License-Identifier: BSD-2-Clause
/* What waits for a verdict about its sender is bounded in bytes, and strangers leave room. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "push/pushed.h"

#include <stdlib.h>
#include <string.h>

#define OURS 100
#define LARGE (64UL << 10)
#define SMALL 40UL

static int pushed_make(void **state)
{
	struct pushed *p = malloc(sizeof(*p));
	struct drain_row row = { .pid = OURS, .start_boot_ns = 1 };

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
	struct letter *l = malloc(sizeof(*l) + length + 1);

	*l = (struct letter){ .pid = pid, .length = length };
	memset(l->text, 'x', length);
	l->text[length] = '\0';
	pushed_put(p, l, 1);
}

/* From @pid, or from as many PIDs as there are letters. */
static void datagrams_put(struct pushed *p, uint32_t pid, bool is_one, int nr, size_t length)
{
	for (int i = 0; i < nr; i++)
		datagram_put(p, pid + (is_one ? 0 : (uint32_t)i), length);
}

static size_t bytes_waiting(const struct pushed *p)
{
	size_t bytes = 0;

	for (const struct letter *l = p->waiting; l; l = l->next)
		bytes += sizeof(*l) + l->length;
	return bytes;
}

static void large_letters_are_kept_up_to_the_bytes_that_may_wait(void **state)
{
	struct pushed *p = *state;

	datagrams_put(p, OURS, true, 8192, LARGE);
	assert_in_range(p->waiting_bytes, PUSHED_WAITING_BYTES - 2 * LARGE, PUSHED_WAITING_BYTES);
	assert_int_equal(p->waiting_bytes, bytes_waiting(p));
	assert_int_equal(p->nr_waiting + p->counts.dropped, 8192);
}

static void a_stranger_has_a_share_and_no_more(void **state)
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

static void many_strangers_leave_room_for_whom_we_know(void **state)
{
	struct pushed *p = *state;
	size_t strangers;

	datagrams_put(p, 1000, false, 1000, LARGE);
	assert_in_range(p->unknown_bytes, PUSHED_UNKNOWN_BYTES - 2 * LARGE, PUSHED_UNKNOWN_BYTES);
	strangers = p->nr_waiting;
	datagrams_put(p, OURS, true, 10, LARGE);
	assert_int_equal(p->nr_waiting, strangers + 10);
}

static void room_comes_back_with_the_verdict(void **state)
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
	datagram_put(p, OURS, SMALL);
	assert_int_equal(p->nr_waiting, 1);
	assert_int_equal(p->waiting->pid, OURS);
}

static void the_last_one_may_go_and_another_come(void **state)
{
	struct pushed *p = *state;

	datagram_put(p, OURS, 1);
	datagram_put(p, OURS, 2);
	pushed_remove(p, &p->waiting->next);
	datagram_put(p, OURS, 3);
	assert_int_equal(p->waiting->length, 1);
	assert_int_equal(p->waiting->next->length, 3);
	assert_null(p->waiting->next->next);
}

#define PUSHED_TEST(test) cmocka_unit_test_setup_teardown(test, pushed_make, pushed_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUSHED_TEST(large_letters_are_kept_up_to_the_bytes_that_may_wait),
		PUSHED_TEST(a_stranger_has_a_share_and_no_more),
		PUSHED_TEST(many_strangers_leave_room_for_whom_we_know),
		PUSHED_TEST(room_comes_back_with_the_verdict),
		PUSHED_TEST(the_last_one_may_go_and_another_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
