// SPDX-License-Identifier: BSD-2-Clause
/* Values of instances: bounded, in the summary, in lines, and in the store. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_fixture.h"
#include "store/edit.h"
#include "store/source.h"
#include "store/merge.h"
#include "run/rewriter.h"
#include "run/writer.h"

#define BY                                                                                         \
	"\"by\":{\"device\":{\"sda\":{\"read_bytes\":7},\"vda\":{\"cpu_seconds\":1.5,"             \
	"\"read_bytes\":5}},\"unheard_of\":{\"a b\":{\"rss_bytes\":3},\"c\":{}}}"
#define SAMPLE_BY(at) "{\"kind\":\"sample\",\"time\":10" at ",\"elapsed_seconds\":" at "," BY "}\n"

static void put_instance(struct sample *s, const char *dimension, const char *name, uint64_t read,
			 uint64_t rss)
{
	struct instance *i = sample_add_instance(s, dimension, name);

	i->value[M_read] = read;
	metric_put(&i->have, M_read);
	i->value[M_rss] = rss;
	metric_put(&i->have, M_rss);
}

static void what_is_not_listed_is_summed_as_other(void **state)
{
	struct sample s = { 0 };

	(void)state;
	put_instance(&s, "device", "a", 9, 0);
	put_instance(&s, "peer", "light", 1, 10);
	put_instance(&s, "peer", "heavy", 8, 20);
	put_instance(&s, "peer", "lighter", 0, 30);
	sample_bound_instances(&s, "peer", M_read, 3);
	assert_int_equal(s.nr_instances, 4);
	sample_bound_instances(&s, "peer", M_read, 1);
	assert_int_equal(s.nr_instances, 3);
	assert_string_equal(s.instances[0].name, "a");
	assert_string_equal(s.instances[1].name, "heavy");
	assert_string_equal(s.instances[2].name, OTHER_INSTANCES);
	assert_int_equal(s.instances[2].value[M_read], 1);
	assert_int_equal(s.instances[2].value[M_rss], 40);
	sample_reset(&s);
}

static void summary_has_the_last_counters_of_each_dimension(void **state)
{
	struct sample first = { 0 }, second = { .elapsed_ns = 1 };
	struct summary sum = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	put_instance(&first, "device", "a", 1, 5);
	put_instance(&first, "peer", "p", 2, 5);
	put_instance(&first, SPAN_DIMENSION, "1", 2, 5);
	put_instance(&second, "device", "a", 3, 6);
	put_instance(&second, "device", "b", 4, 6);
	summary_add_sample(&sum, &first);
	summary_add_sample(&sum, &second);
	write_summary(&j, &sum);
	assert_non_null(strstr(j.text, "\"by\":{\"peer\":{\"p\":{\"read_bytes\":2}},\"device\":{"
				       "\"a\":{\"read_bytes\":3},\"b\":{\"read_bytes\":4}}}"));
	jsonw_done(&j);
	sample_reset(&first);
	sample_reset(&second);
	summary_done(&sum);
}

/* Whether the line is read without a tree, and then as the parser reads it. */
static bool line_is_plain(const char *text)
{
	struct line quick = { 0 }, parsed = { 0 };
	bool is_plain;

	assert_int_equal(line_read_quick(&quick, text, strlen(text)), 0);
	assert_int_equal(line_read(&parsed, text, strlen(text)), 0);
	is_plain = !quick.tree;
	assert_int_equal(quick.sample.nr_instances, parsed.sample.nr_instances);
	for (size_t i = 0; i < quick.sample.nr_instances; i++)
		assert_memory_equal(&quick.sample.instances[i], &parsed.sample.instances[i],
				    sizeof(struct instance));
	line_done(&quick);
	line_done(&parsed);
	return is_plain;
}

static void both_readers_agree_on_instances(void **state)
{
	(void)state;
	assert_true(line_is_plain(SAMPLE_BY("1")));
	assert_false(line_is_plain("{\"kind\":\"sample\",\"elapsed_seconds\":1,\"by\":{}}"));
	assert_false(line_is_plain("{\"kind\":\"sample\",\"elapsed_seconds\":1,"
				   "\"by\":{\"a\":{\"x\":{\"read_bytes\":1},\"x\":{}}}}"));
	assert_false(line_is_plain("{\"kind\":\"sample\",\"elapsed_seconds\":1,"
				   "\"by\":{\"a\":{\"x\":{}},\"b\":{\"x\":{}},\"a\":{}}}"));
	assert_false(line_is_plain("{\"kind\":\"sample\",\"elapsed_seconds\":1,"
				   "\"by\":{\"a\":{\"\\u00e4\":{\"read_bytes\":1}}}}"));
	assert_false(line_is_plain("{\"kind\":\"sample\",\"elapsed_seconds\":1,"
				   "\"by\":{\"a\":{\"x\":{\"unknown\":1}}}}"));
}

static int samples_write_again(void *context, struct line *l)
{
	rewrite_line(context, l);
	return 0;
}

static void assert_stored_as_it_came(const char *path, int64_t id, const char *lines)
{
	struct jsonw j = { 0 };
	struct source s;

	assert_int_equal(source_open_stored(&s, path, id, RUN_FINISHED), 0);
	assert_int_equal(source_each(&s, PART(LINE_SAMPLE), samples_write_again, &j), 0);
	assert_string_equal(j.text, lines);
	source_close(&s);
	jsonw_done(&j);
}

#define LINES                                                                                      \
	"{\"kind\":\"sample\",\"time\":1002,\"elapsed_seconds\":1," BY "}\n"                       \
	"{\"kind\":\"sample\",\"time\":1003,\"elapsed_seconds\":2,\"cpu_seconds\":2,"              \
	"\"cores\":1.5}\n"                                                                         \
	"{\"kind\":\"sample\",\"time\":1004,\"elapsed_seconds\":3," BY "}\n"

static void store_keeps_instances_of_any_dimension(void **state)
{
	const struct place *p = *state;

	keep(p->path, META_OF("01", "") SAMPLE_BY("1") SAMPLE_2 SAMPLE_BY("3") SUMMARY);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM instances"), 8);
	assert_int_equal(ask(p->path, "SELECT sum(read_bytes) FROM instances"
				      " WHERE dimension='device' AND elapsed_seconds=3"),
			 12);
	assert_stored_as_it_came(p->path, 1, LINES);
}

/* Of a store, of lines, and from a store of the schema before. */
static void merge_takes_instances_over(void **state)
{
	const struct place *p = *state;
	char other[200];
	struct store_writer w;
	struct merged m = { 0 };

	snprintf(other, sizeof(other), "%s/other", p->dir);
	keep(other, META_OF("01", "") SAMPLE_BY("1") SAMPLE_2 SAMPLE_BY("3") SUMMARY);
	keep(p->path, META_OF("02", ""));
	assert_int_equal(store_writer_open(&w, p->path), 0);
	assert_int_equal(merge_store(&w.d, other, false, store_copy_words, &m), 0);
	store_writer_close(&w);
	assert_int_equal(m.added, 1);
	assert_stored_as_it_came(p->path, 2, LINES);
}

static void run_without_instances_is_read_without_them(void **state)
{
	const struct place *p = *state;
	struct jsonw j = { 0 };
	struct source s;

	keep(p->path, META_OF("01", "") SAMPLE_1 SUMMARY);
	assert_int_equal(source_open_stored(&s, p->path, 1, RUN_FINISHED), 0);
	assert_int_equal(source_each(&s, PART(LINE_SAMPLE), samples_write_again, &j), 0);
	assert_null(strstr(j.text, "\"by\""));
	source_close(&s);
	jsonw_done(&j);
	keep(p->path, META_OF("02", "") SAMPLE_BY("1") SUMMARY);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM instances WHERE run=2"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_listed_is_summed_as_other),
		cmocka_unit_test(summary_has_the_last_counters_of_each_dimension),
		cmocka_unit_test(both_readers_agree_on_instances),
		PLACE_TEST(store_keeps_instances_of_any_dimension),
		PLACE_TEST(merge_takes_instances_over),
		PLACE_TEST(run_without_instances_is_read_without_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
