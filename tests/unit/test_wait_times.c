// SPDX-License-Identifier: BSD-2-Clause
/* Time off the CPU, given to the reasons that the threads of a process are seen to wait for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/wait_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define S 1000000000ULL

/* What the threads of each process are seen to wait for: by its PID. */
static unsigned seen[8][NR_WAITED];

static int count_of_pid(pid_t pid, unsigned threads, unsigned turn, unsigned counts[NR_WAITED])
{
	(void)threads;
	(void)turn;
	memcpy(counts, seen[pid], sizeof(seen[pid]));
	return 1;
}

struct fixture {
	struct wait_times w;
	struct drain_row rows[8];
	const struct drain_row *all[8];
	struct process_record records[8];
	size_t nr;
};

static int fixture_make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	memset(seen, 0, sizeof(seen));
	f->w.count = count_of_pid;
	for (unsigned i = 1; i < 8; i++) {
		f->rows[i].serial = 10 + i;
		f->rows[i].pid = i;
	}
	*state = f;
	return 0;
}

static int fixture_free(void **state)
{
	struct fixture *f = *state;

	wait_times_done(&f->w);
	free(f);
	return 0;
}

static void process_is_there(struct fixture *f, unsigned pid)
{
	f->all[f->nr++] = &f->rows[pid];
}

/* The process has been off the CPU for so long. */
static void process_was_off(struct fixture *f, unsigned pid, uint64_t off_ns)
{
	f->records[pid].lifetime = off_ns + 3 * S;
	f->records[pid].counters.cpu = 2 * S;
	f->records[pid].counters.runqueue_wait = S;
}

/* Makes a sample that examines up to @most processes, and forgets which are there. */
static void sample_make(struct fixture *f, size_t most, uint64_t off_ns, uint64_t now_ns,
			bool is_last)
{
	struct wait_member **order;

	assert_int_equal(wait_times_begin(&f->w, f->all, f->nr, now_ns), 0);
	order = wait_times_order(&f->w);
	assert_non_null(order);
	for (size_t i = 0; i < f->w.nr && i < most; i++)
		wait_times_look(&f->w, order[i], &f->records[order[i]->row->pid], 1, now_ns);
	free(order);
	wait_times_end(&f->w, off_ns, now_ns, is_last);
	f->nr = 0;
}

static uint64_t sum(const struct wait_times *w)
{
	uint64_t all = 0;

	for (int i = 0; i < NR_WAITED; i++)
		all += w->ns[i];
	return all;
}

static void time_is_divided_among_the_threads_of_a_process(void **state)
{
	struct fixture *f = *state;

	seen[1][W_wait_child] = 1;
	seen[2][W_wait_pipe] = 3;
	seen[2][W_wait_futex] = 1;
	process_is_there(f, 1);
	process_is_there(f, 2);
	process_was_off(f, 1, S);
	process_was_off(f, 2, 4 * S);
	sample_make(f, 8, 5 * S, S, false);
	assert_int_equal(f->w.ns[W_wait_child], S);
	assert_int_equal(f->w.ns[W_wait_pipe], 3 * S);
	assert_int_equal(f->w.ns[W_wait_futex], S);
	assert_int_equal(f->w.ns[W_wait_unseen], 0);
}

static void only_time_since_the_last_sample_is_given(void **state)
{
	struct fixture *f = *state;

	seen[1][W_wait_child] = 1;
	process_is_there(f, 1);
	process_was_off(f, 1, S);
	sample_make(f, 8, S, S, false);
	memset(seen, 0, sizeof(seen));
	seen[1][W_wait_disk] = 1;
	process_is_there(f, 1);
	process_was_off(f, 1, 3 * S);
	sample_make(f, 8, 3 * S, 3 * S, false);
	assert_int_equal(f->w.ns[W_wait_child], S);
	assert_int_equal(f->w.ns[W_wait_disk], 2 * S);
}

static void time_of_a_process_that_ended_was_not_seen(void **state)
{
	struct fixture *f = *state;

	seen[1][W_wait_child] = 1;
	process_is_there(f, 1);
	process_was_off(f, 1, S);
	sample_make(f, 8, 3 * S, S, false);
	assert_int_equal(f->w.ns[W_wait_child], S);
	assert_int_equal(f->w.ns[W_wait_unseen], 2 * S);
}

/* A process that happens to run at a sample has slept for something known later. */
static void time_of_a_running_process_waits_for_the_next_sample(void **state)
{
	struct fixture *f = *state;

	process_is_there(f, 1);
	process_was_off(f, 1, S);
	sample_make(f, 8, S, S, false);
	assert_int_equal(sum(&f->w), 0);
	seen[1][W_wait_socket] = 1;
	process_is_there(f, 1);
	process_was_off(f, 1, 2 * S);
	sample_make(f, 8, 2 * S, 2 * S, false);
	assert_int_equal(f->w.ns[W_wait_socket], 2 * S);
}

static void at_the_end_nothing_is_kept(void **state)
{
	struct fixture *f = *state;

	process_is_there(f, 1);
	process_was_off(f, 1, S);
	sample_make(f, 8, S, S, true);
	assert_int_equal(f->w.ns[W_wait_unseen], S);
}

static void processes_beyond_the_budget_take_turns(void **state)
{
	struct fixture *f = *state;

	for (unsigned turn = 1; turn <= 3; turn++) {
		for (unsigned pid = 1; pid <= 3; pid++) {
			seen[pid][W_wait_child + pid - 1] = 1;
			process_is_there(f, pid);
			process_was_off(f, pid, turn * S);
		}
		sample_make(f, 1, 3 * turn * S, turn * S, false);
	}
	/* each once, with all of its time until then */
	assert_int_equal(f->w.ns[W_wait_child], S);
	assert_int_equal(f->w.ns[W_wait_futex], 2 * S);
	assert_int_equal(f->w.ns[W_wait_pipe], 3 * S);
	assert_int_equal(f->w.ns[W_wait_unseen], 0);
}

static void reasons_have_no_more_than_all_threads_together(void **state)
{
	struct fixture *f = *state;

	seen[1][W_wait_child] = 1;
	seen[1][W_wait_pipe] = 1;
	process_is_there(f, 1);
	process_was_off(f, 1, 4 * S);
	sample_make(f, 8, 3 * S, S, false);
	assert_int_equal(f->w.ns[W_wait_child], f->w.ns[W_wait_pipe]);
	assert_true(sum(&f->w) <= 3 * S && sum(&f->w) >= 3 * S - 2);
}

static void record_that_began_anew_counts_from_0(void **state)
{
	struct fixture *f = *state;

	seen[1][W_wait_child] = 1;
	process_is_there(f, 1);
	process_was_off(f, 1, 5 * S);
	sample_make(f, 8, 5 * S, S, false);
	f->records[1].account.tree = 7;
	process_is_there(f, 1);
	process_was_off(f, 1, S);
	sample_make(f, 8, 6 * S, 2 * S, false);
	assert_int_equal(f->w.ns[W_wait_child], 6 * S);
}

static void what_may_not_be_read_was_not_seen(void **state)
{
	struct fixture *f = *state;

	seen[1][W_wait_unseen] = 1;
	process_is_there(f, 1);
	process_was_off(f, 1, S);
	sample_make(f, 8, S, S, false);
	assert_int_equal(f->w.ns[W_wait_unseen], S);
}

static void budget_is_a_share_of_the_time(void **state)
{
	struct wait_budget b = { 0 };
	int64_t first;

	(void)state;
	wait_budget_earn(&b, 5 * S);
	first = b.left_ns;
	assert_true(first > 0);
	wait_budget_earn(&b, 5 * S + S / 10);
	assert_int_equal(b.left_ns, first + (int64_t)(S / 1000));
	/* what is not spent for long does not delay a sample for long */
	wait_budget_earn(&b, 500 * S);
	assert_true(b.left_ns <= (int64_t)(S / 50));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(time_is_divided_among_the_threads_of_a_process),
		TEST(only_time_since_the_last_sample_is_given),
		TEST(time_of_a_process_that_ended_was_not_seen),
		TEST(time_of_a_running_process_waits_for_the_next_sample),
		TEST(at_the_end_nothing_is_kept),
		TEST(processes_beyond_the_budget_take_turns),
		TEST(reasons_have_no_more_than_all_threads_together),
		TEST(record_that_began_anew_counts_from_0),
		TEST(what_may_not_be_read_was_not_seen),
		cmocka_unit_test(budget_is_a_share_of_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
