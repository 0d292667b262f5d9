// SPDX-License-Identifier: BSD-2-Clause
/* The columns of a list of runs: which are chosen, what is in them, as a table and as CSV. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/format.h"
#include "text/runs_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const sources[] = { "", "node2:" };

static struct stored_runs some_runs(void)
{
	static struct stored_run runs[] = {
		{ .id = 12,
		  .uuid = "u1",
		  .name = "align",
		  .command = "a \"b\", c",
		  .tags = "k=v\0x=y\0",
		  .note = "two\nlines",
		  .state = RUN_FINISHED,
		  .is_complete = true,
		  .wall_ns = 1500000000,
		  .cpu_ns = -1,
		  .rss_peak_bytes = 4096,
		  .processes = 3,
		  .start_epoch_ns = 1763690000123456789,
		  .signal = -1 },
		{ .id = 7,
		  .source = 1,
		  .uuid = "u2",
		  .tags = "\0",
		  .state = RUN_UNFINISHED,
		  .wall_ns = -1,
		  .cpu_ns = -1,
		  .rss_peak_bytes = -1,
		  .processes = -1,
		  .exit_code = -1,
		  .signal = 9 },
	};

	return (struct stored_runs){ .runs = runs, .nr = 2 };
}

static void columns_read(struct run_columns *c, const char *text)
{
	const char *bad;
	size_t length;

	assert_int_equal(run_columns_parse(c, text, &bad, &length), 0);
}

static void assert_table(const char *list, size_t width, const char *wanted)
{
	struct stored_runs all = some_runs();
	struct run_columns c = { 0 };
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (list)
		columns_read(&c, list);
	runs_table(f, &all, 2, sources, &c, width);
	fclose(f);
	assert_string_equal(text, wanted);
	free(text);
}

static void assert_csv(const char *list, const char *wanted)
{
	struct stored_runs all = some_runs();
	struct run_columns c = { 0 };
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	columns_read(&c, list);
	assert_int_equal(runs_csv(f, &all, 2, sources, &c), 0);
	fclose(f);
	assert_string_equal(text, wanted);
	free(text);
}

static void columns_are_named_by_key_or_in_short(void **state)
{
	struct run_columns c;
	const char *bad;
	size_t length;

	(void)state;
	columns_read(&c, "id,peak,exit_code");
	assert_int_equal(c.nr, 3);
	assert_int_equal(c.list[1], RUN_PEAK);
	assert_int_equal(c.list[2], RUN_EXIT);
	assert_int_equal(run_columns_parse(&c, "id,nam,wall", &bad, &length), -ENOENT);
	assert_memory_equal(bad, "nam", length);
	assert_int_equal(run_columns_parse(&c, "wall,id,wall_seconds", &bad, &length), -EEXIST);
	assert_int_equal(run_columns_parse(&c, "", &bad, &length), -ENOENT);
	assert_int_equal(run_columns_parse(&c, "id,", &bad, &length), -ENOENT);
	assert_int_equal(c.nr, 3);
}

static void metrics_are_columns_with_the_values_given(void **state)
{
	static const double values[] = { 1.5, NAN, 1 << 20, 3 };
	struct stored_runs all = some_runs();
	struct run_columns c = { 0 };
	char *text = NULL;
	size_t length;
	FILE *f;

	(void)state;
	columns_read(&c, "cores,id,read,memory");
	assert_int_equal(c.list[3], RUN_NEEDED); /* one key, one column */
	c.values = values;
	c.nr_runs = 2;
	f = open_memstream(&text, &length);
	runs_table(f, &all, 2, sources, &c, 80);
	assert_int_equal(runs_csv(f, &all, 2, sources, &c), 0);
	fclose(f);
	assert_string_equal(text, "cores       id     read       memory\n"
				  "1.500       12  1.0 MiB  RSS 4.0 KiB\n"
				  "    -  node2:7      3 B            -\n"
				  "cores_mean,id,read_bytes,memory_needed_bytes\n"
				  "1.5,12,1048576,\n"
				  ",7,3,\n");
	free(text);
}

static void chosen_columns_are_shown_in_their_order(void **state)
{
	(void)state;
	assert_table("tags,id,wall", 80,
		     "tags          id    wall\n"
		     "k=v x=y       12  1.50 s\n"
		     "-        node2:7       -\n");
	assert_table("id,note", 80,
		     "     id  note\n"
		     "     12  two?lines\n"
		     "node2:7  -\n");
}

static void memory_is_what_a_run_needed_and_says_whether_it_is_a_bound(void **state)
{
	static const struct {
		const char *witness, *bound, *text, *csv;
		int64_t rss_peak_bytes;
	} cases[] = {
		{ "cgroup", "equal", "3.0 MiB", "3145728,cgroup,equal,8192", 8192 },
		{ "pss", "at_least", ">= 3.0 MiB", "3145728,pss,at_least,8192", 8192 },
		{ "rss", "at_most", "<= 3.0 MiB", "3145728,rss,at_most,8192", 8192 },
		{ "", "", "RSS 8.0 KiB", ",,,8192", 8192 },
		{ "", "", "-", ",,,", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stored_run *r = some_runs().runs, before = *r;
		char table[200], csv[200];
		int width;

		r->rss_peak_bytes = cases[i].rss_peak_bytes;
		r->needed.bytes = 3 << 20;
		needed_set_source(&r->needed, cases[i].witness, cases[i].bound);
		width = (int)strlen(cases[i].text) > 6 ? (int)strlen(cases[i].text) : 6;
		snprintf(table, sizeof(table), "     id  %*s\n     12  %*s\nnode2:7  %*s\n", width,
			 "memory", width, cases[i].text, width, "-");
		assert_table("id,memory", 80, table);
		snprintf(csv, sizeof(csv),
			 "memory_needed_bytes,memory_needed_witness,memory_needed_bound,"
			 "rss_peak_bytes\n%s\n,,,\n",
			 cases[i].csv);
		assert_csv("memory,witness,bound,peak", csv);
		*r = before;
	}
}

static void last_text_is_cut_where_the_line_ends(void **state)
{
	(void)state;
	assert_table("id,command", 15,
		     "     id  com...\n"
		     "     12  a \"...\n"
		     "node2:7  -\n");
}

static void csv_has_published_units_and_quotes(void **state)
{
	(void)state;
	assert_csv(
		"ref,start_time,wall,cpu,peak,exit,signal,complete",
		"ref,start_time,wall_seconds,cpu_seconds,rss_peak_bytes,exit_code,signal,complete\n"
		"12,1763690000.123456,1.5,,4096,0,,true\n"
		"node2:7,0,,,,,9,\n");
	assert_csv("name,tags,note,command,uuid",
		   "name,tags,note,command,run\n"
		   "align,k=v;x=y,\"two\nlines\",\"a \"\"b\"\", c\",u1\n"
		   ",,,,u2\n");
}

static void assert_beginning(const char *text, size_t width, const char *wanted)
{
	char out[40] = "";
	FILE *f = fmemopen(out, sizeof(out), "w");

	assert_int_equal(format_beginning(f, text, width), strlen(wanted));
	fclose(f);
	assert_string_equal(out, wanted);
}

static void cell_that_is_cut_has_a_mark(void **state)
{
	(void)state;
	assert_beginning("threads=16", 9, "thread...");
	assert_beginning("threads=16", 10, "threads=16");
	assert_beginning("threads=16", 3, "thr");
}

static struct stored_run tagged(const char *tags)
{
	return (struct stored_run){ .id = 1,
				    .uuid = (char *)"u",
				    .command = (char *)"make",
				    .tags = (char *)tags,
				    .state = RUN_FINISHED,
				    .wall_ns = -1,
				    .cpu_ns = -1,
				    .rss_peak_bytes = -1,
				    .exit_code = 0,
				    .signal = -1 };
}

static void tags_that_are_cut_keep_what_differs(void **state)
{
	struct stored_run runs[] = {
		tagged("build=release-2026-11-28-main-optimized\0"),
		tagged("build=release-2026-11-28-main-debug\0"),
		tagged("compiler=gcc-14\0"),
	};
	struct stored_runs all = { .runs = runs, .nr = 2 };
	const struct run_columns usual = { 0 };
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	(void)state;
	runs_table(f, &all, 2, sources, &usual, 40);
	runs_table(f, &all, 2, sources, &usual, 100);
	all.nr = 3; /* nothing is common: the middle is cut */
	runs_table(f, &all, 3, sources, &usual, 100);
	fclose(f);
	assert_string_equal(text, "id  started  exit  wall  name  tags\n"
				  " 1  -           0     -  -     optim...\n"
				  " 1  -           0     -  -     ...debug\n"
				  "id  started  state  exit  wall  CPU  memory  name  tags     "
				  "                 command\n"
				  " 1  -        ended     0     -    -       -  -     ...-11-28"
				  "-main-optimized  make\n"
				  " 1  -        ended     0     -    -       -  -     ...2026-1"
				  "1-28-main-debug  make\n"
				  "id  started  state  exit  wall  CPU  memory  name  tags     "
				  "                 command\n"
				  " 1  -        ended     0     -    -       -  -     build=rel"
				  "e...n-optimized  make\n"
				  " 1  -        ended     0     -    -       -  -     build=rel"
				  "e...-main-debug  make\n"
				  " 1  -        ended     0     -    -       -  -     compiler="
				  "gcc-14           make\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cell_that_is_cut_has_a_mark),
		cmocka_unit_test(columns_are_named_by_key_or_in_short),
		cmocka_unit_test(metrics_are_columns_with_the_values_given),
		cmocka_unit_test(chosen_columns_are_shown_in_their_order),
		cmocka_unit_test(memory_is_what_a_run_needed_and_says_whether_it_is_a_bound),
		cmocka_unit_test(last_text_is_cut_where_the_line_ends),
		cmocka_unit_test(csv_has_published_units_and_quotes),
		cmocka_unit_test(tags_that_are_cut_keep_what_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
