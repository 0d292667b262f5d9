// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"
#include "screen_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int kept_stderr;

/* stderr is the terminal meanwhile. */
static int stderr_take(void **state)
{
	struct screen *s;

	if (screen_make(state))
		return -1;
	s = *state;
	kept_stderr = dup(STDERR_FILENO);
	return dup2(s->fd, STDERR_FILENO) < 0;
}

static int stderr_give_back(void **state)
{
	progress_end();
	dup2(kept_stderr, STDERR_FILENO);
	close(kept_stderr);
	return screen_remove(state);
}

/* Steps until the terminal has something. */
static const char *steps_until_shown(struct screen *s, uint64_t *steps)
{
	while (!*screen_read(s)) {
		progress_add(1);
		++*steps;
	}
	return s->text;
}

static void short_work_shows_nothing(void **state)
{
	struct screen *s = *state;

	progress_begin("reading", "lines", 0);
	for (int i = 0; i < 1000; i++)
		progress_add(1);
	progress_end();
	assert_string_equal(screen_read(s), "");
}

static void long_work_has_a_line_that_is_removed(void **state)
{
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC), steps = 0;
	struct screen *s = *state;

	progress_begin("reading", "lines", 0);
	assert_non_null(strstr(steps_until_shown(s, &steps), "\rbpfmon: reading: "));
	assert_true(clock_ns(CLOCK_MONOTONIC) - begun_ns >= 500 * NSEC_PER_MSEC);
	assert_non_null(strstr(s->text, " lines\x1b[K"));
	progress_end();
	assert_string_equal(screen_read(s), "\r\x1b[K");
	progress_end();
	assert_string_equal(screen_read(s), "");
}

static void known_total_is_shown_and_a_narrow_terminal_cuts_the_line(void **state)
{
	struct screen *s = *state;
	uint64_t steps = 0;

	progress_begin("reading", "lines of a store of other runs", 1000000000);
	steps_until_shown(s, &steps);
	assert_non_null(strstr(s->text, " of 1000000000 "));
	assert_int_equal(strlen(s->text), 40 + 3);
}

static void message_has_a_line_of_its_own(void **state)
{
	struct screen *s = *state;
	uint64_t steps = 0;

	progress_begin("reading", "lines", 0);
	steps_until_shown(s, &steps);
	log_warn("a file is damaged");
	assert_string_equal(screen_read(s), "\r\x1b[Kbpfmon: warning: a file is damaged\r\n");
}

static void other_terminals_and_files_show_nothing(void **state)
{
	struct screen *s = *state;
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + 600 * NSEC_PER_MSEC;

	setenv("TERM", "dumb", 1);
	progress_begin("reading", "lines", 0);
	while (clock_ns(CLOCK_MONOTONIC) < until_ns)
		progress_add(1);
	assert_string_equal(screen_read(s), "");
}

#define SCREEN_TEST(test) cmocka_unit_test_setup_teardown(test, stderr_take, stderr_give_back)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(short_work_shows_nothing),
		SCREEN_TEST(long_work_has_a_line_that_is_removed),
		SCREEN_TEST(known_total_is_shown_and_a_narrow_terminal_cuts_the_line),
		SCREEN_TEST(message_has_a_line_of_its_own),
		SCREEN_TEST(other_terminals_and_files_show_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
