// SPDX-License-Identifier: BSD-2-Clause
/* The owners of accounts, without programs in the kernel. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/books.h"

#include <stdlib.h>

#define NR_ACCOUNTS 50

static struct account_key keys[NR_ACCOUNTS];
static char owners[NR_ACCOUNTS], other, rest;

/* In an order that is neither up nor down, and with equal cgroups in different trees. */
static void own_all(struct books *b)
{
	for (size_t i = 0; i < NR_ACCOUNTS; i++) {
		size_t at = i * 7 % NR_ACCOUNTS;

		keys[at] = (struct account_key){ .tree = 1 + at % 5, .cgroup = at / 5 };
		assert_int_equal(books_own(b, &keys[at], &owners[at]), 0);
	}
}

static void each_account_has_its_owner(void **state)
{
	struct books b = { .rest = NULL };

	(void)state;
	own_all(&b);
	for (size_t i = 0; i < NR_ACCOUNTS; i++)
		assert_ptr_equal(books_owner(&b, &keys[i]), &owners[i]);
	free(b.owners);
}

static void what_is_disowned_has_none_and_the_others_keep_theirs(void **state)
{
	struct books b = { .rest = NULL };

	(void)state;
	own_all(&b);
	for (size_t i = 0; i < NR_ACCOUNTS; i += 2)
		books_disown(&b, &keys[i]);
	books_disown(&b, &keys[0]); /* has none any more */
	for (size_t i = 0; i < NR_ACCOUNTS; i++)
		assert_ptr_equal(books_owner(&b, &keys[i]), i % 2 ? &owners[i] : NULL);
	free(b.owners);
}

static void an_account_may_get_another_owner(void **state)
{
	struct books b = { .rest = NULL };

	(void)state;
	own_all(&b);
	assert_int_equal(books_own(&b, &keys[3], &other), 0);
	assert_ptr_equal(books_owner(&b, &keys[3]), &other);
	books_disown(&b, &keys[3]);
	assert_null(books_owner(&b, &keys[3]));
	free(b.owners);
}

static void the_rest_is_owned_by_one_but_not_what_outlives_its_account(void **state)
{
	struct books b = { .rest = &rest };
	const struct account_key unknown = { .tree = 9, .cgroup = 9 };

	(void)state;
	assert_ptr_equal(books_owner(&b, &unknown), &rest);
	own_all(&b);
	assert_ptr_equal(books_owner(&b, &unknown), &rest);
	assert_null(books_owner(&b, &account_of_none));
	free(b.owners);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_account_has_its_owner),
		cmocka_unit_test(what_is_disowned_has_none_and_the_others_keep_theirs),
		cmocka_unit_test(an_account_may_get_another_owner),
		cmocka_unit_test(the_rest_is_owned_by_one_but_not_what_outlives_its_account),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
