// SPDX-License-Identifier: BSD-2-Clause
/* Values of instances as text: a table for each dimension, and histograms. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "text/summary_tables.h"

static void put(struct summary *s, const char *dimension, const char *name, enum metric_id id,
		uint64_t value)
{
	struct instance *i = sample_add_instance(&s->total, dimension, name);

	i->value[id] = value;
	metric_put(&i->have, id);
}

static char *text_of(const struct summary *s, size_t width)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	instances_text(f, s, width);
	latencies_text(f, s);
	fclose(f);
	return text;
}

static void each_dimension_has_a_table(void **state)
{
	struct summary s = { 0 };
	char *text;

	(void)state;
	put(&s, "device", "vda", M_block_read, 4096);
	put(&s, "device", "a\033b", M_block_read_ops, 7);
	put(&s, "peer", "10.0.0.1:80", M_read, 5);
	text = text_of(&s, 0);
	assert_string_equal(text,
			    "\n  device                              block_read  block_read_ops\n"
			    "  vda                                    4.0 KiB               -\n"
			    "  a?b                                          -               7\n"
			    "\n  peer                                      read\n"
			    "  10.0.0.1:80                                5 B\n");
	free(text);
	summary_done(&s);
}

static void columns_that_have_no_room_are_left_out(void **state)
{
	struct summary s = { 0 };
	char *text;

	(void)state;
	put(&s, "device", "vda", M_block_read, 4096);
	put(&s, "device", "vdb", M_block_write_ops, 7);
	text = text_of(&s, 40);
	assert_string_equal(text, "\n  device            block_read\n"
				  "  vda                  4.0 KiB\n"
				  "  vdb                        -\n");
	free(text);
	summary_done(&s);
}

static void many_are_summed_at_the_end(void **state)
{
	struct summary s = { 0 };
	char *text, name[8];

	(void)state;
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "%d", i);
		put(&s, "device", name, M_block_read_ops, 1);
	}
	text = text_of(&s, 0);
	assert_non_null(strstr(text, "\n  others (10)                                     10\n"));
	free(text);
	summary_done(&s);
}

static void latencies_have_bars(void **state)
{
	struct summary s = { 0 };
	struct block_latency *l = latencies_get(&s.latencies, "vda", 1);
	char *text;

	(void)state;
	l->count[9] = 1;
	l->count[11] = 4;
	text = text_of(&s, 0);
	assert_string_equal(text,
			    "\n  vda, write: 5 operations, 99 % of them in less than 4.1 us\n"
			    "  <  1.0 us          1  ##########\n"
			    "  <  2.0 us          0\n"
			    "  <  4.1 us          4  ########################################\n");
	free(text);
	summary_done(&s);
}

static void nothing_is_said_of_none(void **state)
{
	const struct summary s = { 0 };
	char *text = text_of(&s, 80);

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_dimension_has_a_table),
		cmocka_unit_test(columns_that_have_no_room_are_left_out),
		cmocka_unit_test(many_are_summed_at_the_end),
		cmocka_unit_test(latencies_have_bars),
		cmocka_unit_test(nothing_is_said_of_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
