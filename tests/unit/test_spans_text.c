// SPDX-License-Identifier: BSD-2-Clause
/* The table of spans: its figures, its width, and names that want to be more than names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "text/format.h"
#include "text/spans_text.h"

#define SECOND 1000000000ULL

static struct span span_of(uint64_t id, uint64_t parent, const char *name, uint64_t cpu_ns)
{
	struct span s = { .id = id, .parent = parent, .label.name = name, .end_epoch_ns = 1 };

	s.used.complete = s.used.has_status = true;
	s.used.has_rss_peak = s.used.has_rss_peak_upper = true;
	s.used.rss_peak_bytes = id * MIB;
	s.used.rss_peak_upper_bytes = 2 * id * MIB;
	s.used.wall_ns = 2 * SECOND;
	s.used.processes_total = 1;
	sample_set(&s.used.total, M_cpu, cpu_ns);
	sample_set(&s.used.total, M_read, MIB);
	return s;
}

/* To be freed. */
static char *text_sorted(const struct span *spans, size_t nr, enum span_order order, size_t most,
			 struct spans_view view)
{
	struct summary run = { .complete = true, .wall_ns = 9 * SECOND, .processes_total = 6 };
	struct span_paths p = { 0 };
	struct span_sums sums;
	ssize_t nr_hidden;
	char *text;

	sample_set(&run.total, M_cpu, 8 * SECOND);
	sample_set(&run.total, M_read, 9 * MIB);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(span_paths_add(&p, &spans[i]), 0);
	assert_int_equal(span_paths_finish(&p, view.is_each), 0);
	assert_int_equal(span_sums_init(&sums, &p), 0);
	for (size_t i = 0; i < nr; i++)
		span_sums_add(&sums, &p, &spans[i]);
	nr_hidden = span_paths_sort(&p, &sums, order, most);
	assert_true(nr_hidden >= 0);
	view.nr_hidden = (uint64_t)nr_hidden;
	text = spans_text(&p, &sums, &run, &view);
	span_sums_done(&sums);
	span_paths_done(&p);
	assert_non_null(text);
	return text;
}

/* Likewise with the spread of names; the first span comes first. */
static char *text_of(const struct span *spans, size_t nr, bool is_each, size_t width)
{
	return text_sorted(spans, nr, SPANS_BY_START, 0,
			   (struct spans_view){ .is_each = is_each,
						.has_spread = true,
						.is_markdown = !width,
						.width = width });
}

static void rows_have_sums_spread_rest_and_run(void **state)
{
	struct span spans[] = { span_of(2, 1, "cc", SECOND), span_of(1, 0, "build", 3 * SECOND),
				span_of(3, 0, "build", 2 * SECOND) };
	char *text;

	(void)state;
	spans[2].used.exit_code = 1;
	text = text_of(spans, 3, false, 80);
	assert_string_equal(
		text,
		"  span               count        CPU       wall   peak RSS      up to failed\n"
		"  build                  2     5.00 s     4.00 s    3.0 MiB    6.0 MiB      1\n"
		"      (least)                  2.00 s     2.00 s    1.0 MiB    2.0 MiB\n"
		"      (most)                   3.00 s     2.00 s    3.0 MiB    6.0 MiB\n"
		"    cc                   1     1.00 s     2.00 s    2.0 MiB    4.0 MiB      0\n"
		"  (rest of the run)            3.00 s\n"
		"  = the run                    8.00 s     9.00 s          -          -\n");
	free(text);
}

static void markdown_has_the_same_rows_and_notes(void **state)
{
	struct span spans[] = { span_of(2, 1, "c|c", SECOND), span_of(1, 0, "build", 3 * SECOND) };
	char *text;

	(void)state;
	spans[0].used.complete = false;
	text = text_of(spans, 2, false, 0);
	assert_string_equal(
		text,
		"\n| span | count | CPU | wall | peak RSS | up to | failed | processes | read |\n"
		"|:---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
		"| `build` | 1 | 3.00 s | 2.00 s | 1.0 MiB | 2.0 MiB | 0 | 1 | 1.0 MiB |\n"
		"| &emsp;`c\\|c` | 1 | 1.00 s | 2.00 s | 2.0 MiB | 4.0 MiB | 0 | 1 | 1.0 MiB |\n"
		"| &emsp;&emsp;(INCOMPLETE) |  |  |  |  |  |  |  |  |\n"
		"| (rest of the run) |  | 5.00 s |  |  |  |  | 5 | 8.0 MiB |\n"
		"| = the run |  | 8.00 s | 9.00 s | - | - |  | 6 | 9.0 MiB |\n");
	free(text);
}

static void each_one_has_its_status(void **state)
{
	struct span spans[] = { span_of(2, 1, "cc", SECOND), span_of(1, 0, "build", 3 * SECOND) };
	char *text;

	(void)state;
	spans[0].used.signal = 9;
	spans[1].used.has_status = false;
	text = text_of(spans, 2, true, 80);
	assert_non_null(strstr(text, "up to   exit"));
	assert_non_null(strstr(text, "4.0 MiB    137"));
	assert_non_null(strstr(text, "2.0 MiB      -"));
	assert_null(strstr(text, "count"));
	free(text);
}

static void what_is_wrong_with_a_span_is_below_it(void **state)
{
	struct span spans[] = { span_of(1, 0, "a", SECOND), span_of(2, 0, "a", SECOND) };
	char *text;

	(void)state;
	spans[1].used.complete = false;
	summary_add_loss(&spans[1].used, "exits", 3);
	spans[0].end_epoch_ns = 0;
	text = text_of(spans, 2, false, 80);
	assert_non_null(strstr(text, "\n    (1 of 2 INCOMPLETE: lost 3 exits)\n"));
	assert_non_null(strstr(text, "\n    (1 of 2 had not ended when the run did)\n"));
	free(text);
}

static void a_rest_that_would_be_less_than_nothing_is_not_known(void **state)
{
	const struct span spans[] = { span_of(1, 0, "a", 9 * SECOND) };
	char *text = text_of(spans, 1, false, 80);

	(void)state;
	assert_non_null(strstr(text, "(rest of the run)                 -\n"));
	free(text);
}

static const struct spans_view wide = { .width = 80 };

static void the_heaviest_come_first_and_the_others_are_counted(void **state)
{
	struct span spans[] = { span_of(1, 0, "light", SECOND), span_of(3, 2, "within", SECOND / 2),
				span_of(2, 0, "heavy", 2 * SECOND),
				span_of(4, 0, "light", SECOND / 2) };
	char *text = text_sorted(spans, 4, SPANS_BY_CPU, 2, wide);

	(void)state;
	assert_string_equal(
		text,
		"  span               count        CPU       wall   peak RSS      up to failed\n"
		"  heavy                  1     2.00 s     2.00 s    2.0 MiB    4.0 MiB      0\n"
		"  light                  2     1.50 s     4.00 s    4.0 MiB    8.0 MiB      0\n"
		"  (1 name more: --all)\n"
		"  (rest of the run)            4.50 s\n"
		"  = the run                    8.00 s     9.00 s          -          -\n");
	free(text);
}

/* The largest is within another: both fit, or neither is shown. */
static void a_span_is_below_those_around_it(void **state)
{
	struct span spans[] = { span_of(2, 1, "within", 2 * SECOND),
				span_of(1, 0, "around", SECOND),
				span_of(3, 0, "other", SECOND / 2) };
	char *text = text_sorted(spans, 3, SPANS_BY_CPU, 1, wide);

	(void)state;
	assert_null(strstr(text, "within"));
	assert_non_null(strstr(text, "\n  around"));
	assert_non_null(strstr(text, "\n  (2 names more: --all)\n"));
	free(text);
	text = text_sorted(spans, 3, SPANS_BY_CPU, 2, wide);
	assert_non_null(strstr(text, "\n    within"));
	assert_null(strstr(text, "other"));
	free(text);
}

static void names_are_whole_where_no_width_is_given(void **state)
{
	static const char name[] =
		"tests/test_a.py::test_that_the_name_of_a_test_may_be_as_long_as_this";
	const struct span spans[] = { span_of(1, 0, name, SECOND), span_of(2, 0, name, SECOND) };
	char *text = text_sorted(spans, 2, SPANS_BY_CPU, 0, (struct spans_view){ 0 });

	(void)state;
	assert_non_null(strstr(text, name));
	assert_non_null(strstr(text, "longest processes       read\n"));
	free(text);
}

/* The loop is for widths; the message has the text. */
static void no_label_of_the_table_is_cut(void **state)
{
	static struct span spans[12];

	(void)state;
	for (uint64_t i = 0; i < 12; i++)
		spans[i] = span_of(i + 1, i, i < 11 ? "a" : "", SECOND);
	for (size_t width = 40; width < 140; width++) {
		char *text = text_of(spans, 12, width % 2, width);

		if (!strstr(text, "\n  (rest of the run) ") || !strstr(text, " (no name) "))
			fail_msg("at %zu columns: %s", width, text);
		free(text);
	}
}

static void a_run_without_spans_is_all_rest(void **state)
{
	char *text = text_of(NULL, 0, false, 60);

	(void)state;
	assert_non_null(strstr(text, "(rest of the run)            8.00 s"));
	assert_non_null(strstr(text, "\n  the run has no spans\n"));
	free(text);
}

/* The loops are for widths and lines; the message has the line. */
static void no_line_is_wider_than_the_terminal(void **state)
{
	static struct span spans[40];
	char *text, *rest, *line;

	(void)state;
	for (uint64_t i = 0; i < 40; i++) {
		spans[i] = span_of(i + 1, i,
				   "a name of \xe6\xbc\xa2\xe5\xad\x97 that goes on and on", i);
		summary_add_loss(&spans[i].used, "a loss of some length", i);
	}
	for (size_t width = 32; width < 140; width += 9) {
		text = rest = text_of(spans, 40, width % 2, width);
		while ((line = strsep(&rest, "\n")))
			if (format_columns(line) > width)
				fail_msg("%zu: %s", width, line);
		free(text);
	}
}

static void names_cannot_steer_a_terminal(void **state)
{
	struct span spans[] = { span_of(1, 0, "a\x1b[2Jb\nc", SECOND), span_of(2, 0, "", SECOND) };
	char *text;

	(void)state;
	spans[0].used.complete = false;
	strcpy(spans[0].used.reason, "b\x1b[2J\n");
	text = text_of(spans, 2, false, 80);
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "a?[2Jb?c"));
	assert_non_null(strstr(text, "(INCOMPLETE: b?[2J?)"));
	assert_non_null(strstr(text, "(no name)"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_sums_spread_rest_and_run),
		cmocka_unit_test(markdown_has_the_same_rows_and_notes),
		cmocka_unit_test(each_one_has_its_status),
		cmocka_unit_test(what_is_wrong_with_a_span_is_below_it),
		cmocka_unit_test(a_rest_that_would_be_less_than_nothing_is_not_known),
		cmocka_unit_test(no_label_of_the_table_is_cut),
		cmocka_unit_test(the_heaviest_come_first_and_the_others_are_counted),
		cmocka_unit_test(a_span_is_below_those_around_it),
		cmocka_unit_test(names_are_whole_where_no_width_is_given),
		cmocka_unit_test(a_run_without_spans_is_all_rest),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(names_cannot_steer_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
