// SPDX-License-Identifier: BSD-2-Clause
/* The table of processes that held the most at the peak. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "text/summary_tables.h"

/* To be freed. */
static char *text_of(const struct process_sample *rows, size_t nr)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	assert_non_null(f);
	heaviest_text(f, "at the peak", rows, nr);
	fclose(f);
	return text;
}

static void put(struct process_sample *p, enum metric_id id, uint64_t value)
{
	p->value[id] = value;
	metric_put(&p->have, id);
}

static void rows_have_the_known_values(void **state)
{
	struct process_sample rows[] = {
		{ .elapsed_ns = 2500000000, .pid = 4242, .comm = "cc1plus" },
		{ .elapsed_ns = 2500000000, .pid = 7 },
	};
	char *text;

	(void)state;
	put(&rows[0], M_rss, 3 * MIB);
	put(&rows[0], M_rss_anon, 2 * MIB);
	put(&rows[0], M_swap, 0);
	put(&rows[0], M_cpu, 1500000000);
	put(&rows[1], M_rss, MIB);
	text = text_of(rows, 2);
	assert_string_equal(
		text,
		"\n"
		"  at the peak (2.50 s)           pid   resident  anonymous   swapped        CPU\n"
		"  cc1plus                       4242    3.0 MiB    2.0 MiB       0 B     1.50 s\n"
		"  (unknown)                        7    1.0 MiB          -         -          "
		"-\n");
	free(text);
}

static void no_line_is_wider_than_80_columns(void **state)
{
	struct process_sample p = { .elapsed_ns = 86399999999999, .pid = 1 << 22 };
	struct metric_set set;
	char *text, *at;

	(void)state;
	memset(p.comm, 'x', sizeof(p.comm) - 1);
	process_sample_metrics(&set);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(&set, (enum metric_id)i))
			put(&p, (enum metric_id)i, 1023ULL << 40);
	text = text_of(&p, 1);
	for (at = text + 1; *at; at += strcspn(at, "\n") + 1)
		assert_in_range(strcspn(at, "\n"), 1, 80);
	free(text);
}

static void hostile_name_is_inert(void **state)
{
	struct process_sample p = { .comm = "a\x1b[2J\nb" };
	char *text = text_of(&p, 1);

	(void)state;
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "\n  a?[2J?b "));
	free(text);
}

static void an_empty_list_prints_nothing(void **state)
{
	char *text = text_of(NULL, 0);

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_the_known_values),
		cmocka_unit_test(no_line_is_wider_than_80_columns),
		cmocka_unit_test(hostile_name_is_inert),
		cmocka_unit_test(an_empty_list_prints_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
