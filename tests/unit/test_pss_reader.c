// SPDX-License-Identifier: BSD-2-Clause
/* The thread that reads PSS: a read that does not end holds up nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/procstat.h"
#include "measure/pss_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define GONE 0x7ffffff0
#define PATIENCE_MS 300000

static int began[2], may_end[2]; /* pipes: of a read that does not end by itself */

static int read_stuck(pid_t pid, struct smaps *out)
{
	char c = 'x';

	if (write(began[1], &c, 1) != 1 || read(may_end[0], &c, 1) != 1)
		return -EIO;
	*out = (struct smaps){ (uint64_t)pid * 2, (uint64_t)pid };
	return 0;
}

static void wait_for_byte(void)
{
	char c;

	assert_int_equal(read(began[0], &c, 1), 1);
}

static void let_end(size_t nr)
{
	char all[8] = "";

	assert_int_equal(write(may_end[1], all, nr), nr);
}

static struct pss_reader *reader_make(int (*read_one)(pid_t pid, struct smaps *out))
{
	struct pss_reader *r = NULL;

	assert_int_equal(pss_reader_make(&r, read_one, 0), 0);
	assert_int_equal(pss_reader_start(r), 0);
	return r;
}

/* With a budget for two that take as long as expected. */
static void hand_two(struct pss_reader *r, pid_t first, pid_t second)
{
	struct pss_list l = { .nr = 2, .budget_ns = 1000 * (int64_t)NSEC_PER_SEC };

	l.items = calloc(2, sizeof(*l.items));
	assert_non_null(l.items);
	l.items[0].pid = first;
	l.items[1].pid = second;
	pss_reader_submit(r, &l);
}

static void wait_until_done(struct pss_reader *r)
{
	struct pollfd p = { .fd = pss_reader_fd(r), .events = POLLIN };

	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
}

static size_t nr_done(struct pss_reader *r)
{
	size_t nr;

	pss_reader_results(r, &nr);
	return nr;
}

/* They are open until the program ends: a reader that was left may still have them. */
static int pipes_make(void **state)
{
	(void)state;
	return pipe(began) || pipe(may_end);
}

static void values_are_those_of_a_direct_read(void **state)
{
	struct pss_reader *r = reader_make(smaps_read);
	struct smaps direct = { 0 };
	struct pss_list *l;
	size_t nr;

	(void)state;
	hand_two(r, getpid(), GONE);
	wait_until_done(r);
	l = pss_reader_results(r, &nr);
	assert_int_equal(smaps_read(getpid(), &direct), 0);
	assert_int_equal(nr, 2);
	assert_true(l->items[0].is_read && !l->items[0].err && l->items[0].r.took_ns > 0);
	assert_in_range(l->items[0].r.uss_bytes, direct.uss_bytes / 2, direct.uss_bytes * 2);
	assert_in_range(l->items[0].r.pss_bytes, direct.pss_bytes / 2, direct.pss_bytes * 2);
	assert_true(l->items[1].is_read);
	assert_int_equal(l->items[1].err, -ENOENT);
	assert_int_equal(pss_reader_busy_ns(r), 0);
	pss_reader_leave(r);
}

static void results_are_seen_before_all_is_done(void **state)
{
	struct pss_reader *r = reader_make(read_stuck);
	struct pss_list *l;
	size_t nr;

	(void)state;
	hand_two(r, 5, 6);
	wait_for_byte();
	assert_int_equal(nr_done(r), 0);
	assert_true(pss_reader_busy_ns(r) > 0);
	let_end(1);
	wait_for_byte();
	l = pss_reader_results(r, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(l->items[0].r.pss_bytes, 10);
	let_end(1);
	wait_until_done(r);
	assert_int_equal(nr_done(r), 2);
	pss_reader_leave(r);
}

static void read_that_exceeds_the_budget_is_the_last(void **state)
{
	struct pss_reader *r = reader_make(read_stuck);
	struct pss_list l = { .nr = 2, .budget_ns = 1 };
	struct pss_list *done;
	size_t nr;

	(void)state;
	l.items = calloc(2, sizeof(*l.items));
	assert_non_null(l.items);
	l.items[0].expected_ns = l.items[1].expected_ns = 1;
	let_end(1);
	pss_reader_submit(r, &l);
	wait_until_done(r);
	wait_for_byte();
	done = pss_reader_results(r, &nr);
	assert_int_equal(nr, 2);
	assert_true(done->items[0].is_read);
	assert_false(done->items[1].is_read);
	pss_reader_leave(r);
}

static void second_list_is_read_by_the_same_thread(void **state)
{
	struct pss_reader *r = reader_make(smaps_read);

	(void)state;
	for (int i = 0; i < 100; i++) {
		hand_two(r, getpid(), getpid());
		wait_until_done(r);
		assert_int_equal(nr_done(r), 2);
	}
	pss_reader_leave(r);
}

static void wait_until_freed(int fd)
{
	while (fcntl(fd, F_GETFD) >= 0)
		poll(NULL, 0, 1);
}

static void leaving_does_not_wait_for_a_read(void **state)
{
	struct pss_reader *r = reader_make(read_stuck);
	struct pollfd p = { .fd = began[0], .events = POLLIN };
	int done_fd = pss_reader_fd(r);

	(void)state;
	hand_two(r, 5, 6);
	wait_for_byte();
	pss_reader_leave(r);
	let_end(1); /* only now */
	wait_until_freed(done_fd);
	assert_int_equal(poll(&p, 1, 0), 0); /* the second was not read */
}

static void reader_that_was_not_started_may_be_left(void **state)
{
	(void)state;
	pss_reader_leave(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_a_direct_read),
		cmocka_unit_test(results_are_seen_before_all_is_done),
		cmocka_unit_test(read_that_exceeds_the_budget_is_the_last),
		cmocka_unit_test(second_list_is_read_by_the_same_thread),
		cmocka_unit_test(leaving_does_not_wait_for_a_read),
		cmocka_unit_test(reader_that_was_not_started_may_be_left),
	};

	return cmocka_run_group_tests(tests, pipes_make, NULL);
}
