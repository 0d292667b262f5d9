// SPDX-License-Identifier: BSD-2-Clause
/* What is put into a store is there, as another reader of SQLite sees it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store.h"
#include "store/schema.h"
#include "store_fixture.h"
#include "run/writer.h"

#include <errno.h>

static void values_are_whole_numbers_and_views_have_the_published_keys(void **state)
{
	struct place *p = *state;

	keep(p->path, RUN SAMPLE_1 SAMPLE_2 PROCESS_1);
	assert_int_equal(ask(p->path, "SELECT cpu_ns FROM sample WHERE elapsed_ns=2000000000"),
			 2000000000);
	assert_int_equal(ask(p->path, "SELECT cores_milli FROM sample WHERE elapsed_ns=2000000000"),
			 1500);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM samples WHERE cpu_seconds=0.5 AND"
				      " elapsed_seconds=1.0 AND rss_bytes=4096"),
			 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM processes WHERE cpu_seconds=0.25 AND"
				      " args='[\"cc\",\"-c\"]' AND exit_code=0"),
			 1);
}

static void process_samples_are_rows_ranked_within_their_sample(void **state)
{
	struct place *p = *state;

	keep(p->path, RUN SAMPLE_1 PROCESS_SAMPLE("1", "7", "900") PROCESS_SAMPLE("1", "5", "80")
			      SAMPLE_2 PROCESS_SAMPLE("2", "5", "81"));
	assert_int_equal(ask(p->path, "SELECT count(*) FROM event"), 0);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM process_sample"), 3);
	assert_int_equal(ask(p->path, "SELECT pid FROM process_sample WHERE run=1 AND"
				      " elapsed_ns=1000000000 AND rank=2"),
			 5);
	assert_int_equal(ask(p->path, "SELECT rss_bytes FROM process_sample WHERE run=1 AND"
				      " elapsed_ns=2000000000 AND rank=1"),
			 81);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM process_samples WHERE pid=7 AND"
				      " elapsed_seconds=1.0 AND start_time=1000.5 AND comm='cc'"
				      " AND cpu_seconds=0.25 AND swap_bytes IS NULL"
				      " AND lossy IS NULL"),
			 1);
}

static void spans_are_rows_with_their_values_and_their_line(void **state)
{
	struct place *p = *state;

	keep(p->path,
	     RUN SAMPLE_1 SPAN("3", "\"parent\":1,", "cc") SPAN("1", "\"in_place\":true,", "b"));
	assert_int_equal(ask(p->path, "SELECT count(*) FROM event"), 0);
	assert_int_equal(ask(p->path, "SELECT id FROM span WHERE run=1 AND seq=1"), 3);
	assert_int_equal(ask(p->path,
			     "SELECT count(*) FROM span WHERE id=3 AND parent=1 AND name='cc' AND"
			     " tags='{\"a\":\"b\"}' AND pid=7 AND in_place IS NULL AND"
			     " start_time_ns=1001500000000 AND end_time_ns=1002500000000 AND"
			     " complete=1 AND exit_code=3 AND signal IS NULL AND"
			     " wall_ns=1000000001 AND processes=2 AND cpu_ns=250000000 AND"
			     " rss_peak_bytes=4096 AND rss_peak_upper_bytes=8192 AND"
			     " rss_peak_exact_bytes IS NULL AND read_bytes IS NULL"),
			 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM spans WHERE id=1 AND parent IS NULL AND"
				      " in_place=1 AND start_time=1001.5 AND cpu_seconds=0.25 AND"
				      " json_extract(line, '$.rss_peak_upper_bytes')=8192"),
			 1);
}

/* No such line is written: a store would take whatever somebody put into a file. */
static void span_whose_line_is_larger_than_a_mebibyte_is_not_kept(void **state)
{
	struct place *p = *state;
	size_t room = (1 << 20) + 100;
	struct store_writer w;
	char *line = malloc(room);

	assert_non_null(line);
	memset(line, ' ', room);
	memcpy(line, "{\"kind\":\"span\",\"id\":1", 22);
	line[room - 1] = '}';
	assert_int_equal(store_writer_open(&w, p->path), 0);
	assert_int_equal(store_writer_begin(&w), 0);
	put_lines(&w, RUN SPAN("2", "", "small"));
	assert_int_equal(store_writer_put(&w, line, room), 0);
	assert_int_equal(w.unreadable, 1);
	assert_int_equal(store_writer_commit(&w, 0), 0);
	store_writer_close(&w);
	assert_int_equal(ask(p->path, "SELECT id FROM span"), 2);
	free(line);
}

static void values_of_a_span_that_no_column_holds_are_null(void **state)
{
	struct place *p = *state;

	keep(p->path, RUN "{\"kind\":\"span\",\"id\":-1,\"parent\":\"x\",\"name\":7,\"pid\":1e300,"
			  "\"start_time\":-5,\"tags\":[],\"wall_seconds\":1e300}\n");
	assert_int_equal(ask(p->path,
			     "SELECT count(*) FROM span WHERE id IS NULL AND parent IS NULL"
			     " AND name IS NULL AND pid IS NULL AND start_time_ns IS NULL"
			     " AND tags IS NULL AND cpu_ns IS NULL"),
			 1);
}

static void runs_have_the_published_units_and_the_cpus_that_the_command_could_use(void **state)
{
	struct place *p = *state;

	keep(p->path, META_OF("01", "\"system\":{\"cpus\":8},") SUMMARY);
	keep(p->path, META_OF("02", "\"system\":{\"cpus\":8},\"limits\":{\"cpus_allowed_count\":4,"
				    "\"cpu_max_cores\":2.5},") SAMPLE_1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM runs WHERE run=1 AND cpus=8 AND"
				      " start_time=1001.0 AND interval_seconds=1.0 AND failed=1 AND"
				      " wall_seconds=2.5 AND cpu_seconds=2.0 AND"
				      " rss_peak_bytes=8192"),
			 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM runs WHERE run=2 AND cpus=2.5 AND"
				      " ended=0 AND failed IS NULL AND wall_seconds=1.0"),
			 1);
}

static void run_whose_meta_cannot_be_read_leaves_the_others_readable(void **state)
{
	struct place *p = *state;

	keep(p->path, META_OF("01", "\"system\":{\"cpus\":8},") SUMMARY);
	keep(p->path, META_OF("02", ""));
	tell(p->path, "UPDATE run_text SET meta='{' WHERE run=2");
	assert_int_equal(ask(p->path, "SELECT count(*) FROM runs WHERE cpus=8"), 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM runs WHERE cpus IS NULL"), 1);
}

static void value_that_was_not_read_is_null(void **state)
{
	struct place *p = *state;

	keep(p->path, RUN SAMPLE_2 PROCESS_1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample WHERE rss_bytes IS NULL AND"
				      " minflt IS NULL"),
			 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM process WHERE signal IS NULL AND"
				      " end_time_ns IS NULL AND rss_peak_bytes IS NULL"),
			 1);
}

static void every_metric_is_a_column(void **state)
{
	struct place *p = *state;
	char name[COLUMN_BYTES], sql[200];

	keep(p->path, RUN);
	for (int i = 0; i < NR_METRICS; i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM pragma_table_info('sample') WHERE name='%s'",
			 column_name(name, (enum metric_id)i));
		assert_int_equal(ask(p->path, sql), 1);
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM pragma_table_info('samples') WHERE name='%s'",
			 metric_get((enum metric_id)i)->key);
		assert_int_equal(ask(p->path, sql), 1);
	}
}

static void uncommitted_lines_are_gone_with_the_writer(void **state)
{
	struct place *p = *state;
	struct store_writer w;

	assert_int_equal(store_writer_open(&w, p->path), 0);
	assert_int_equal(store_writer_begin(&w), 0);
	put_lines(&w, RUN SAMPLE_1);
	assert_int_equal(store_writer_commit(&w, 0), 0);
	assert_int_equal(store_writer_begin(&w), 0);
	put_lines(&w, SAMPLE_2);
	store_writer_undo(&w);
	store_writer_close(&w);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample"), 1);
	assert_int_equal(ask(p->path, "SELECT ended FROM run"), 0);
	assert_int_equal(ask(p->path, "SELECT cpu_ns FROM run"), 500000000);
}

static void lines_that_are_no_json_or_come_before_the_meta_are_passed_over(void **state)
{
	struct place *p = *state;

	keep(p->path, SAMPLE_1 "nonsense\n{}\n" RUN "{\"kind\":\n" SAMPLE_1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample"), 1);
}

static void second_writer_waits_its_turn(void **state)
{
	struct place *p = *state;
	struct store_writer a, b;

	assert_int_equal(store_writer_open(&a, p->path), 0);
	assert_int_equal(store_writer_open(&b, p->path), 0);
	assert_int_equal(store_writer_begin(&a), 0);
	assert_int_equal(store_writer_begin(&b), -EAGAIN);
	put_lines(&a, RUN SAMPLE_1);
	assert_int_equal(store_writer_commit(&a, 0), 0);
	assert_int_equal(store_writer_begin(&b), 0);
	put_lines(&b, META_OF("02", "") SAMPLE_1 SAMPLE_2);
	assert_int_equal(store_writer_commit(&b, 0), 0);
	store_writer_close(&a);
	store_writer_close(&b);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample WHERE run=1"), 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample WHERE run=2"), 2);
}

static void the_thread_stores_the_lines_it_gets(void **state)
{
	struct place *p = *state;
	struct store *s = store_start(p->path);
	char why[200];

	assert_non_null(s);
	store_put(s, RUN, strlen(RUN));
	store_put(s, SAMPLE_1, strlen(SAMPLE_1));
	store_put(s, SUMMARY, strlen(SUMMARY));
	store_finish(s);
	assert_null(store_describe_failure(s, why, sizeof(why)));
	assert_int_equal(store_run(s), 1);
	store_free(s);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run WHERE ended=1 AND exit_code=3 AND"
				      " wall_ns=2500000000 AND rss_peak_bytes=8192"),
			 1);
	/* its summary is of before there was such a figure */
	assert_int_equal(ask(p->path, "SELECT count(*) FROM runs WHERE memory_needed_bytes=8192 AND"
				      " memory_needed_witness='rss' AND"
				      " memory_needed_bound='at_least'"),
			 1);
}

static void the_thread_reports_why_it_stores_nothing(void **state)
{
	struct place *p = *state;
	struct store *s;
	char why[200];

	file_write(p->path, "no database");
	s = store_start(p->path);
	store_put(s, RUN, strlen(RUN));
	store_finish(s);
	assert_non_null(store_describe_failure(s, why, sizeof(why)));
	assert_non_null(strstr(why, "not a bpfmon store"));
	assert_int_equal(store_run(s), 0);
	store_free(s);
}

/* Puts the record as bpfmon writes it, and once more with a key that only the parser takes. */
static void put_twice(struct store_writer *w, const struct process *p)
{
	struct jsonw j = { 0 };
	char *text = NULL;

	write_process(&j, p);
	assert_int_equal(store_writer_put(w, j.text, j.used), 0);
	assert_null(w->line.tree);
	assert_true(asprintf(&text, "%.*s,\"new\":1}\n", (int)j.used - 2, j.text) > 0);
	assert_int_equal(store_writer_put(w, text, strlen(text)), 0);
	assert_non_null(w->line.tree);
	free(text);
	jsonw_done(&j);
}

static void put_processes(struct store_writer *w)
{
	struct process p;

	fixture_process(&p);
	put_twice(w, &p);
	p.args_cut = p.lossy = true;
	p.rss_peak_exact = false;
	p.joined_epoch_ns = p.left_epoch_ns = p.start_epoch_ns;
	put_twice(w, &p);
	p.signal = 9;
	p.exe = p.args = NULL;
	p.has_rss_peak = false;
	p.end_epoch_ns = 0;
	put_twice(w, &p);
	fixture_live_process(&p);
	put_twice(w, &p);
}

static void record_read_without_a_tree_makes_the_same_row(void **state)
{
	struct place *p = *state;
	struct store_writer w;

	assert_int_equal(store_writer_open(&w, p->path), 0);
	assert_int_equal(store_writer_begin(&w), 0);
	put_lines(&w, RUN);
	put_processes(&w);
	assert_int_equal(store_writer_commit(&w, 0), 0);
	store_writer_close(&w);
	tell(p->path, "CREATE TABLE plain AS SELECT * FROM process WHERE seq % 2 = 1;"
		      "CREATE TABLE parsed AS SELECT * FROM process WHERE seq % 2 = 0;"
		      "UPDATE plain SET seq = seq + 1");
	assert_int_equal(ask(p->path, "SELECT count(*) FROM plain"), 4);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM"
				      " (SELECT * FROM plain INTERSECT SELECT * FROM parsed)"),
			 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(values_are_whole_numbers_and_views_have_the_published_keys),
		PLACE_TEST(process_samples_are_rows_ranked_within_their_sample),
		PLACE_TEST(spans_are_rows_with_their_values_and_their_line),
		PLACE_TEST(span_whose_line_is_larger_than_a_mebibyte_is_not_kept),
		PLACE_TEST(values_of_a_span_that_no_column_holds_are_null),
		PLACE_TEST(runs_have_the_published_units_and_the_cpus_that_the_command_could_use),
		PLACE_TEST(run_whose_meta_cannot_be_read_leaves_the_others_readable),
		PLACE_TEST(value_that_was_not_read_is_null),
		PLACE_TEST(record_read_without_a_tree_makes_the_same_row),
		PLACE_TEST(every_metric_is_a_column),
		PLACE_TEST(uncommitted_lines_are_gone_with_the_writer),
		PLACE_TEST(lines_that_are_no_json_or_come_before_the_meta_are_passed_over),
		PLACE_TEST(second_writer_waits_its_turn),
		PLACE_TEST(the_thread_stores_the_lines_it_gets),
		PLACE_TEST(the_thread_reports_why_it_stores_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
