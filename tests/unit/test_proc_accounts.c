// SPDX-License-Identifier: BSD-2-Clause
#include "measure/proc_accounts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define FAR_PID 0x7fff0000 /* no process has it */

static const struct account_key tree = { .tree = 1 }, span = { .tree = 2 };
static struct proc_budget budget;

struct proc_books {
	struct proc_accounts accounts;
	struct proc_members members;
	uint64_t look;
};

static int proc_books_make(void **state)
{
	static struct proc_books p;

	p = (struct proc_books){ .look = 1 };
	*state = &p;
	return proc_accounts_add(&p.accounts, &tree) || proc_accounts_add(&p.accounts, &span);
}

static int proc_books_remove(void **state)
{
	struct proc_books *p = *state;

	proc_members_done(&p->members, &budget);
	proc_accounts_done(&p->accounts);
	return 0;
}

static struct proc_member *member_make(struct proc_books *p, pid_t pid, pid_t parent,
				       const struct account_key *key)
{
	struct proc_member *m = proc_member_new(pid);

	m->stat.parent = parent;
	m->rec.account = *key;
	m->look = p->look;
	assert_true(proc_members_add(&p->members, m));
	return m;
}

static uint64_t user_of(struct proc_books *p, const struct account_key *key)
{
	proc_accounts_total(&p->accounts, &p->members);
	return proc_accounts_find(&p->accounts, key)->total.user;
}

static void member_drop(void *context, struct proc_member *m)
{
	(void)context;
	proc_member_free(m, &budget);
}

static void what_was_used_before_a_move_stays(void **state)
{
	struct proc_books *p = *state;
	struct proc_member *m = member_make(p, FAR_PID, 1, &tree);

	m->stat.user_ns = 100;
	m->stat.children_user_ns = 20;
	proc_accounts_move(&p->accounts, m, &span);
	m->stat.user_ns += 7;
	assert_int_equal(user_of(p, &tree), 120);
	assert_int_equal(user_of(p, &span), 7);
	proc_accounts_move(&p->accounts, m, &tree);
	m->stat.user_ns += 3;
	assert_int_equal(user_of(p, &tree), 123);
	assert_int_equal(user_of(p, &span), 7);
	assert_int_equal(proc_accounts_find(&p->accounts, &span)->total.moved_out, 1);
}

static void what_was_used_before_an_attach_does_not_count(void **state)
{
	struct proc_books *p = *state;
	struct proc_member *m = member_make(p, FAR_PID, 1, &tree);

	m->stat.user_ns = 100;
	proc_accounts_forget(&p->accounts, m);
	assert_int_equal(user_of(p, &tree), 0);
	m->stat.user_ns = 104;
	assert_int_equal(user_of(p, &tree), 4);
}

/* Its parent is gone as well, and has got nothing from it that is known of. */
static void what_ended_is_kept_where_it_was_used(void **state)
{
	struct proc_books *p = *state;
	struct proc_member *parent = member_make(p, FAR_PID, 1, &tree);
	struct proc_member *m = member_make(p, FAR_PID + 1, FAR_PID, &span);

	parent->stat.user_ns = 50;
	m->stat.user_ns = 9;
	assert_int_equal(user_of(p, &span), 9);
	proc_accounts_begin(&p->members);
	p->look++;
	proc_accounts_settle(&p->accounts, &p->members, p->look);
	proc_members_sweep(&p->members, p->look, member_drop, NULL);
	assert_int_equal(user_of(p, &span), 9);
	assert_int_equal(user_of(p, &tree), 50);
}

static void account_that_is_removed_leaves_the_others(void **state)
{
	const struct account_key other = { .tree = 3 };
	struct proc_books *p = *state;

	assert_int_equal(proc_accounts_add(&p->accounts, &other), 0);
	proc_accounts_remove(&p->accounts, proc_accounts_find(&p->accounts, &span));
	assert_null(proc_accounts_find(&p->accounts, &span));
	assert_non_null(proc_accounts_find(&p->accounts, &tree));
	assert_non_null(proc_accounts_find(&p->accounts, &other));
}

static void totals_neither_fall_nor_become_negative(void **state)
{
	struct proc_used less = { .user_ns = 3 }, more = { .user_ns = 5 };
	struct account a = { 0 };

	(void)state;
	proc_used_publish(&more, &a);
	proc_used_publish(&less, &a);
	assert_int_equal(a.user, 5);
	proc_used_subtract(&less, &more);
	proc_used_publish(&less, &a);
	assert_int_equal(a.user, 5);
	proc_used_add(&less, &more);
	assert_int_equal(less.user_ns, 3);
	proc_used_take(&less, &more);
	assert_true(proc_used_is_zero(&less));
}

#define BOOKS_TEST(f) cmocka_unit_test_setup_teardown(f, proc_books_make, proc_books_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOOKS_TEST(what_was_used_before_a_move_stays),
		BOOKS_TEST(what_was_used_before_an_attach_does_not_count),
		BOOKS_TEST(what_ended_is_kept_where_it_was_used),
		BOOKS_TEST(account_that_is_removed_leaves_the_others),
		cmocka_unit_test(totals_neither_fall_nor_become_negative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
