// SPDX-License-Identifier: BSD-2-Clause
/* What the rows of top wait for is read for all at once, and never while a key waits for the
 * picture. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "top/proc.h"

#include <unistd.h>

static bool picture(struct waiting *w, bool is_for_key, pid_t pid)
{
	char state = 0, text[WAITING_BYTES];

	w->is_deferred = is_for_key;
	waiting_begin(w);
	waiting_add(w, pid, 0);
	return waiting_text(w, pid, 0, &state, text, sizeof(text)) && state == 'R';
}

static void a_key_is_answered_with_what_was_read_before(void **state)
{
	struct waiting w = { 0 };

	(void)state;
	assert_false(picture(&w, true, getpid()));
	assert_true(w.is_incomplete);
	assert_int_equal(w.nr_read, 0);
	assert_true(picture(&w, false, getpid()));
	assert_false(w.is_incomplete);
	assert_true(picture(&w, true, getpid()));
	assert_false(w.is_incomplete);
	waiting_done(&w);
}

static void rows_that_keys_have_passed_are_not_read_afterwards(void **state)
{
	struct waiting w = { 0 };

	(void)state;
	picture(&w, false, getpid());
	for (int i = 0; i < 100; i++)
		picture(&w, true, getppid() + i);
	assert_true(picture(&w, false, getpid()));
	assert_int_equal(w.nr_read, 1);
	waiting_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_answered_with_what_was_read_before),
		cmocka_unit_test(rows_that_keys_have_passed_are_not_read_afterwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
