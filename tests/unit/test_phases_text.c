// SPDX-License-Identifier: BSD-2-Clause
/* The table of phases: its figures, its width, and names that want to be more than names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "text/spans_text.h"

#define SECOND 1000000000ULL

static void sample(struct phases *p, uint64_t elapsed_ns, uint64_t cpu_ns, uint64_t rss)
{
	struct sample s = { .elapsed_ns = elapsed_ns };

	sample_set(&s, M_cpu, cpu_ns);
	sample_set(&s, M_rss, rss);
	sample_set(&s, M_forks, cpu_ns / SECOND);
	phases_add_sample(p, &s);
}

/* Two phases, the second called @name; to be freed. */
static char *text_of(const char *name, size_t width)
{
	struct phases p = { 0 };
	char *text;

	phases_add_mark(&p, name, strlen(name), 2 * SECOND);
	sample(&p, 0, 0, MIB);
	sample(&p, 2 * SECOND, SECOND, 3 * MIB);
	sample(&p, 5 * SECOND, 4 * SECOND, 2 * MIB);
	phases_finish(&p, 5 * SECOND);
	text = phases_text(&p, false, width);
	phases_done(&p);
	assert_non_null(text);
	return text;
}

static void a_row_has_the_figures_of_its_phase(void **state)
{
	char *text = text_of("train", 80);

	(void)state;
	assert_string_equal(text, "  phase          wall         CPU  cores   peak RSS   started\n"
				  "  (start)      2.00 s      1.00 s   0.50    3.0 MiB         1\n"
				  "  train        3.00 s      3.00 s   1.00    3.0 MiB         3\n"
				  "  started: the number of processes that began in the phase\n");
	free(text);
}

static char *text_of_shared(size_t width)
{
	struct phases p = { 0 };
	char *text;

	phases_add_mark(&p, "a", 1, 2 * SECOND);
	phases_add_mark(&p, "b", 1, 3 * SECOND);
	phases_add_mark(&p, "c", 1, 4 * SECOND);
	sample(&p, 2 * SECOND, SECOND, MIB);
	sample(&p, 4 * SECOND, 3 * SECOND, 2 * MIB);
	sample(&p, 6 * SECOND, 4 * SECOND, 4 * MIB);
	phases_finish(&p, 6 * SECOND);
	text = phases_text(&p, false, width);
	phases_done(&p);
	assert_non_null(text);
	return text;
}

static void phases_that_share_have_one_row_of_values_below_them(void **state)
{
	char *text = text_of_shared(80);

	(void)state;
	assert_string_equal(text,
			    "  phase            wall         CPU  cores   peak RSS   started\n"
			    "  (start)        2.00 s      1.00 s   0.50    1.0 MiB         1\n"
			    "  a              1.00 s           |      |          |         |\n"
			    "  b              1.00 s           |      |          |         |\n"
			    "  = these 2      2.00 s      2.00 s   1.00    2.0 MiB         2\n"
			    "  c              2.00 s      1.00 s   0.50    4.0 MiB         1\n"
			    "  started: the number of processes that began in the phase\n"
			    "  | no sample tells these apart: what they used together is below\n");
	free(text);
}

static void no_line_about_sharing_is_wider_than_the_terminal(void **state)
{
	(void)state;
	for (size_t width = 32; width < 120; width++) {
		char *text = text_of_shared(width), *at = text;

		for (char *stop; (stop = strchr(at, '\n')); at = stop + 1)
			assert_in_range(stop - at, 1, width);
		free(text);
	}
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	char name[300] = "";

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	for (size_t width = 32; width < 120; width++) {
		char *text = text_of(name, width), *at = text;

		for (char *stop; (stop = strchr(at, '\n')); at = stop + 1)
			assert_in_range(stop - at, 1, width);
		free(text);
	}
}

static void columns_are_left_out_from_the_right(void **state)
{
	char *text = text_of("x", 45);

	(void)state;
	assert_non_null(strstr(text, "wall"));
	assert_non_null(strstr(text, "CPU"));
	assert_null(strstr(text, "RSS"));
	free(text);
}

static void a_hostile_name_is_inert(void **state)
{
	char *text = text_of("\x1b[31m\n</script>\x9b\r\t\x07", 80);

	(void)state;
	assert_null(strpbrk(text, "\x1b\r\t\x07"));
	assert_null(strchr(text, '\x9b'));
	assert_non_null(strstr(text, "?[31m?</script>????"));
	free(text);
}

static void what_is_not_known_of_a_phase_is_no_zero(void **state)
{
	struct phases p = { 0 };
	char *text;

	(void)state;
	phases_add_mark(&p, "end", 3, 9 * SECOND);
	sample(&p, 0, SECOND, MIB);
	phases_finish(&p, 9 * SECOND);
	text = phases_text(&p, false, 80);
	assert_non_null(
		strstr(text, "end             0 s           -      -          -         -\n"));
	free(text);
	phases_done(&p);
}

/* The phases @names, a letter each, of a second each; samples at the moments in @seconds. */
static char *text_of_names(const char *names, const char *seconds, bool is_each)
{
	struct phases p = { 0 };
	size_t n = strlen(names);
	char *text;

	for (size_t i = 0; i < n; i++)
		phases_add_mark(&p, &names[i], 1, i * SECOND);
	for (const char *at = seconds; *at; at++)
		sample(&p, (uint64_t)(*at - '0') * SECOND, (uint64_t)(*at - '0') * SECOND / 2,
		       (uint64_t)(*at - '0' + 1) * MIB);
	phases_finish(&p, n * SECOND);
	text = phases_text(&p, is_each, is_each ? 60 : 70);
	phases_done(&p);
	assert_non_null(text);
	return text;
}

static void assert_text(char *text, const char *expected)
{
	assert_string_equal(text, expected);
	free(text);
}

static void phases_of_one_name_are_one_row_with_their_number(void **state)
{
	(void)state;
	assert_text(text_of_names("ltlt", "01234", false),
		    "  phase    count        wall         CPU  cores   peak RSS\n"
		    "  (start)      1         0 s         0 s      -    1.0 MiB\n"
		    "  l            2      2.00 s      1.00 s   0.50    4.0 MiB\n"
		    "  t            2      2.00 s      1.00 s   0.50    5.0 MiB\n");
}

static void each_of_them_can_be_shown(void **state)
{
	(void)state;
	assert_text(text_of_names("ltl", "0123", true),
		    "  phase          wall         CPU  cores   peak RSS\n"
		    "  (start)         0 s         0 s      -    1.0 MiB\n"
		    "  l            1.00 s      500 ms   0.50    2.0 MiB\n"
		    "  t            1.00 s      500 ms   0.50    3.0 MiB\n"
		    "  l            1.00 s      500 ms   0.50    4.0 MiB\n");
}

static void markdown_has_the_same_rows_with_inert_names(void **state)
{
	(void)state;
	assert_text(text_of("a|b", 0),
		    "\n| phase | wall | CPU | cores | peak RSS | started |\n"
		    "|:---|---:|---:|---:|---:|---:|\n"
		    "| `(start)` | 2.00 s | 1.00 s | 0.50 | 3.0 MiB | 1 |\n"
		    "| `a\\|b` | 3.00 s | 3.00 s | 1.00 | 3.0 MiB | 3 |\n"
		    "\nstarted: the number of processes that began in the phase\n");
}

static void equal_phases_that_share_are_one_row_all_the_same(void **state)
{
	(void)state;
	assert_text(text_of_names("lll", "03", false),
		    "  phase    count        wall         CPU  cores   peak RSS\n"
		    "  (start)      1         0 s         0 s      -    1.0 MiB\n"
		    "  l            3      3.00 s      1.50 s   0.50    4.0 MiB\n");
}

static void what_different_phases_share_is_a_row_below(void **state)
{
	(void)state;
	assert_text(text_of_names("lltu", "0124", false),
		    "  phase           count        wall         CPU  cores   peak RSS\n"
		    "  (start)             1         0 s         0 s      -    1.0 MiB\n"
		    "  l                   2      2.00 s      1.00 s   0.50    3.0 MiB\n"
		    "  t                   1      1.00 s           |      |          |\n"
		    "  u                   1      1.00 s           |      |          |\n"
		    "  | together (2)             2.00 s      1.00 s   0.50    5.0 MiB\n"
		    "  | no sample tells these apart: what they used together is "
		    "below\n");
}

static void what_is_in_part_below_is_marked(void **state)
{
	(void)state;
	assert_text(text_of_names("ltlu", "0124", false),
		    "  phase           count        wall         CPU  cores   peak RSS\n"
		    "  (start)             1         0 s         0 s      -    1.0 MiB\n"
		    "  l                   2      2.00 s     500 ms+      |   2.0 MiB+\n"
		    "  t                   1      1.00 s      500 ms   0.50    3.0 MiB\n"
		    "  u                   1      1.00 s           |      |          |\n"
		    "  | together (2)             2.00 s      1.00 s   0.50    5.0 MiB\n"
		    "  | no sample tells these apart: what they used together is "
		    "below\n"
		    "  + and a part of what is below\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_has_the_figures_of_its_phase),
		cmocka_unit_test(phases_that_share_have_one_row_of_values_below_them),
		cmocka_unit_test(no_line_about_sharing_is_wider_than_the_terminal),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(columns_are_left_out_from_the_right),
		cmocka_unit_test(a_hostile_name_is_inert),
		cmocka_unit_test(what_is_not_known_of_a_phase_is_no_zero),
		cmocka_unit_test(phases_of_one_name_are_one_row_with_their_number),
		cmocka_unit_test(each_of_them_can_be_shown),
		cmocka_unit_test(markdown_has_the_same_rows_with_inert_names),
		cmocka_unit_test(equal_phases_that_share_are_one_row_all_the_same),
		cmocka_unit_test(what_different_phases_share_is_a_row_below),
		cmocka_unit_test(what_is_in_part_below_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
