// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "text/format.h"
#include "text/live_text.h"

#include <string.h>

static const struct live_view busy = {
	.elapsed_ns = 83 * NSEC_PER_SEC,
	.has_cores = true,
	.cores = 3940,
	.cores_available = 8000,
	.has_memory = true,
	.memory_bytes = 1200ULL << 20,
	.peak_bytes = 2ULL << 30,
	.has_io = true,
	.io_bytes_a_second = 35ULL << 20,
	.has_processes = true,
	.processes = 1,
	.phase = "align",
};

static void assert_line(const struct live_view *v, size_t columns, const char *expected)
{
	char text[LIVE_TEXT_BYTES];

	live_text(text, v, columns, true);
	assert_string_equal(text, expected);
}

static void line_has_all_that_is_known_of_a_run(void **state)
{
	(void)state;
	assert_line(&busy, 200,
		    "bpfmon 83 s  3.9 of 8 cores  1.2 GiB  peak 2.0 GiB  I/O 35.0 MiB/s  1 process "
		    " align");
}

static void narrow_line_lacks_what_matters_least(void **state)
{
	(void)state;
	assert_line(&busy, 80,
		    "bpfmon 83 s  3.9 of 8 cores  1.2 GiB  peak 2.0 GiB  I/O 35.0 MiB/s  align");
	assert_line(&busy, 59, "bpfmon 83 s  3.9 of 8 cores  1.2 GiB  peak 2.0 GiB  align");
	assert_line(&busy, 40, "bpfmon 83 s  3.9 of 8 cores  1.2 GiB");
	assert_line(&busy, 20, "bpfmon 83 s");
}

static void stalled_run_says_so_even_where_little_fits(void **state)
{
	struct live_view v = busy;

	(void)state;
	v.is_stalled = true;
	assert_line(&v, 20, "bpfmon 83 s  stalled");
}

static void line_leaves_out_what_is_not_recorded(void **state)
{
	const struct live_view v = { .elapsed_ns = NSEC_PER_SEC, .has_cores = true };

	(void)state;
	assert_line(&v, 200, "bpfmon 1 s  0.0 cores");
}

static void share_of_a_core_has_a_decimal(void **state)
{
	const struct live_view v = { .has_cores = true, .cores = 1500, .cores_available = 1500 };

	(void)state;
	assert_line(&v, 200, "bpfmon 0 s  1.5 of 1.5 cores");
}

static void phase_cannot_steer_the_terminal(void **state)
{
	struct live_view v = { .phase = "a\x1b[2J\nb" };

	(void)state;
	assert_line(&v, 200, "bpfmon 0 s  a?[2J?b");
}

static void long_phase_is_cut_at_a_character(void **state)
{
	struct live_view v = { .phase = "ääääääääääääääääääääääääääääääääääääääääää" };

	(void)state;
	assert_line(&v, 200, "bpfmon 0 s  äääääääääääääääääääääääääääää...");
}

static void line_is_ascii_where_the_terminal_is(void **state)
{
	struct live_view v = { .phase = "Schätzung" };
	char text[LIVE_TEXT_BYTES];

	(void)state;
	live_text(text, &v, 200, false);
	assert_string_equal(text, "bpfmon 0 s  Sch??tzung");
}

static void elapsed_time_is_shown_in_its_largest_units(void **state)
{
	char out[FORMAT_BYTES];

	(void)state;
	assert_string_equal(format_elapsed(out, 59 * NSEC_PER_SEC), "59 s");
	assert_string_equal(format_elapsed(out, 60 * NSEC_PER_SEC), "60 s");
	assert_string_equal(format_elapsed(out, 3600 * NSEC_PER_SEC), "1 h");
	assert_string_equal(format_elapsed(out, 90061 * NSEC_PER_SEC), "25 h 1 min");
	assert_true(strlen(format_elapsed(out, UINT64_MAX)) < FORMAT_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_has_all_that_is_known_of_a_run),
		cmocka_unit_test(narrow_line_lacks_what_matters_least),
		cmocka_unit_test(stalled_run_says_so_even_where_little_fits),
		cmocka_unit_test(line_leaves_out_what_is_not_recorded),
		cmocka_unit_test(share_of_a_core_has_a_decimal),
		cmocka_unit_test(phase_cannot_steer_the_terminal),
		cmocka_unit_test(long_phase_is_cut_at_a_character),
		cmocka_unit_test(line_is_ascii_where_the_terminal_is),
		cmocka_unit_test(elapsed_time_is_shown_in_its_largest_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
