// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bottom_row.h"
#include "base/fd.h"
#include "screen_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SAVE "\x1b\x37"
#define RESTORE "\x1b\x38"
#define RESERVE "\x1b\x44\x1b[A" SAVE "\x1b[1;9r" RESTORE
#define ROW SAVE "\x1b[10;1H\x1b[0m\x1b[2K"
#define ROW_END "\x1b[0m" RESTORE

static struct bottom_row row;

static int row_make(void **state)
{
	struct screen *s;

	if (screen_make(state))
		return -1;
	s = *state;
	row = (struct bottom_row){ 0 };
	return reopen_for_writing(s->fd);
}

static unsigned rows_shown(const struct screen *s)
{
	struct winsize now;

	assert_int_equal(ioctl(s->fd, TIOCGWINSZ, &now), 0);
	return now.ws_row;
}

static void first_line_takes_the_row_from_the_others(void **state)
{
	struct screen *s = *state;

	assert_int_equal(bottom_row_open(&row, s->fd), 0);
	assert_string_equal(screen_read(s), "");
	assert_int_equal(bottom_row_draw(&row, "one", false), 0);
	assert_string_equal(screen_read(s), RESERVE ROW "one" ROW_END);
	assert_int_equal(rows_shown(s), 9);
}

static void next_line_changes_nothing_but_the_row(void **state)
{
	struct screen *s = *state;

	bottom_row_open(&row, s->fd);
	bottom_row_draw(&row, "one", false);
	screen_read(s);
	assert_int_equal(bottom_row_draw(&row, "two", true), 0);
	assert_string_equal(screen_read(s), ROW "\x1b[7mtwo" ROW_END);
}

static void release_clears_the_row_and_gives_it_back(void **state)
{
	struct screen *s = *state;

	bottom_row_open(&row, s->fd);
	bottom_row_draw(&row, "one", false);
	screen_read(s);
	bottom_row_release(&row);
	assert_string_equal(screen_read(s), SAVE "\x1b[r\x1b[10;1H\x1b[0m\x1b[2K" RESTORE);
	assert_int_equal(rows_shown(s), 10);
	bottom_row_release(&row);
	assert_string_equal(screen_read(s), "");
}

static void line_is_cut_before_the_last_column(void **state)
{
	struct screen *s = *state;

	bottom_row_open(&row, s->fd);
	bottom_row_draw(&row, "one", false);
	screen_read(s);
	bottom_row_draw(&row, "1234567890123456789012345678901234567890xyz", false);
	assert_string_equal(screen_read(s), ROW "123456789012345678901234567890123456789" ROW_END);
}

static void control_characters_end_a_line(void **state)
{
	struct screen *s = *state;

	bottom_row_open(&row, s->fd);
	bottom_row_draw(&row, "one", false);
	screen_read(s);
	bottom_row_draw(&row, "a\x1b]0;b", false);
	assert_string_equal(screen_read(s), ROW "a" ROW_END);
}

static void resized_terminal_has_its_row_taken_again(void **state)
{
	const struct winsize larger = { .ws_row = 20, .ws_col = 40, .ws_ypixel = 200 };
	struct screen *s = *state;

	bottom_row_open(&row, s->fd);
	bottom_row_draw(&row, "one", false);
	assert_false(bottom_row_has_moved(&row));
	ioctl(s->master, TIOCSWINSZ, &larger);
	assert_true(bottom_row_has_moved(&row));
	screen_read(s);
	bottom_row_draw(&row, "two", false);
	assert_non_null(strstr(screen_read(s), "\x1b[1;19r"));
	assert_int_equal(rows_shown(s), 19);
}

static void size_that_the_terminal_has_taken_stays_at_the_end(void **state)
{
	const struct winsize shorter = { .ws_row = 9, .ws_col = 40, .ws_ypixel = 90 };
	struct screen *s = *state;

	bottom_row_open(&row, s->fd);
	bottom_row_draw(&row, "one", false);
	ioctl(s->master, TIOCSWINSZ, &shorter); /* as many rows as we have left */
	screen_read(s);
	bottom_row_release(&row);
	assert_string_equal(screen_read(s), SAVE "\x1b[r" RESTORE);
	assert_int_equal(rows_shown(s), 9);
}

static void terminal_that_became_tiny_is_left_alone(void **state)
{
	const struct winsize tiny = { .ws_row = 3, .ws_col = 40 };
	struct screen *s = *state;

	bottom_row_open(&row, s->fd);
	bottom_row_draw(&row, "one", false);
	ioctl(s->master, TIOCSWINSZ, &tiny);
	assert_int_equal(bottom_row_draw(&row, "two", false), -EOPNOTSUPP);
	assert_false(row.is_reserved);
	assert_int_equal(rows_shown(s), 3);
}

static void terminal_without_regions_shows_none(void **state)
{
	struct screen *s = *state;

	setenv("TERM", "dumb", 1);
	assert_int_equal(bottom_row_open(&row, s->fd), -EOPNOTSUPP);
	unsetenv("TERM");
	assert_int_equal(bottom_row_open(&row, s->fd), -EOPNOTSUPP);
}

static void file_shows_none(void **state)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(bottom_row_open(&row, fd), -ENOTTY);
	close(fd);
}

static void second_user_of_a_terminal_gets_no_row(void **state)
{
	struct bottom_row other;
	struct screen *s = *state;
	int fd = open(ttyname(s->fd), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	assert_int_equal(bottom_row_open(&row, s->fd), 0);
	assert_int_equal(bottom_row_open(&other, fd), -EBUSY);
	close(fd);
}

static void terminal_whose_writes_block_shows_none(void **state)
{
	struct screen *s = *state;

	fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) & ~O_NONBLOCK);
	assert_int_equal(bottom_row_open(&row, s->fd), -EWOULDBLOCK);
}

static void stopped_terminal_gets_nothing(void **state)
{
	struct screen *s = *state;

	bottom_row_open(&row, s->fd);
	tcflow(s->fd, TCOOFF);
	assert_int_equal(bottom_row_draw(&row, "one", false), -EAGAIN);
	tcflow(s->fd, TCOON);
	assert_string_equal(screen_read(s), "");
	assert_int_equal(rows_shown(s), 10);
}

#define ROW_TEST(test) cmocka_unit_test_setup_teardown(test, row_make, screen_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW_TEST(first_line_takes_the_row_from_the_others),
		ROW_TEST(next_line_changes_nothing_but_the_row),
		ROW_TEST(release_clears_the_row_and_gives_it_back),
		ROW_TEST(line_is_cut_before_the_last_column),
		ROW_TEST(control_characters_end_a_line),
		ROW_TEST(resized_terminal_has_its_row_taken_again),
		ROW_TEST(size_that_the_terminal_has_taken_stays_at_the_end),
		ROW_TEST(terminal_that_became_tiny_is_left_alone),
		ROW_TEST(terminal_without_regions_shows_none),
		ROW_TEST(file_shows_none),
		ROW_TEST(second_user_of_a_terminal_gets_no_row),
		ROW_TEST(terminal_whose_writes_block_shows_none),
		ROW_TEST(stopped_terminal_gets_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
