// SPDX-License-Identifier: BSD-2-Clause
/* The tables of the store's columns, against the files that are made of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/source.h"
#include "store/row_table.h"
#include "store/schema.h"
#include "store_fixture.h"
#include "run/writer.h"

static const struct stored_table *const tables[] = { &run_table,   &sample_table,
						     &block_table, &process_table,
						     &event_table, &process_sample_table,
						     &span_table,  &signature_table };

/* The rules are for every row: the loops are here, and the message names the row. */
#define each_table(t)                                                                              \
	for (const struct stored_table *const *t = tables, *const *t##_end = tables + 8;           \
	     t < t##_end; t++)
#define each_column(c, t)                                                                          \
	for (const struct table_column *c = (t)->columns, *c##_end = c + (t)->nr; c < c##_end; c++)

/* Stores of a version have these tables: a change of one needs another STORE_SCHEMA. */
static const char process_of_2[] =
	"CREATE TABLE process(run INTEGER NOT NULL, seq INTEGER NOT NULL, pid INTEGER,"
	" ns_pid INTEGER, ppid INTEGER, uid INTEGER, span INTEGER, comm TEXT, exe TEXT, args TEXT,"
	" args_cut INTEGER, start_time_ns INTEGER, joined_time_ns INTEGER, left_time_ns INTEGER,"
	" end_time_ns INTEGER, exit_code INTEGER, signal INTEGER, state TEXT, threads_total "
	"INTEGER,"
	" execs INTEGER, rss_peak_bytes INTEGER, rss_peak_exact INTEGER, gpu_memory_peak_bytes "
	"INTEGER,"
	" children_cpu_ns INTEGER,"
	" lossy INTEGER, PRIMARY KEY(run, seq)) WITHOUT ROWID;";
static const char process_sample_of_2[] =
	"CREATE TABLE process_sample(run INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,"
	" rank INTEGER NOT NULL, pid INTEGER, comm TEXT, start_time_ns INTEGER, lossy INTEGER,"
	" PRIMARY KEY(run, elapsed_ns, rank)) WITHOUT ROWID;";
static const char span_of_2[] =
	"CREATE TABLE span(run INTEGER NOT NULL, seq INTEGER NOT NULL, id INTEGER, parent INTEGER,"
	" name TEXT, tags TEXT, pid INTEGER, in_place INTEGER, start_time_ns INTEGER,"
	" end_time_ns INTEGER, complete INTEGER, exit_code INTEGER, signal INTEGER, wall_ns "
	"INTEGER,"
	" processes INTEGER, oom_kills INTEGER, rss_peak_bytes INTEGER,"
	" rss_peak_upper_bytes INTEGER, rss_peak_exact_bytes INTEGER, line TEXT,"
	" PRIMARY KEY(run, seq)) WITHOUT ROWID;";

static const char signature_of_2[] =
	"CREATE TABLE signature(run INTEGER NOT NULL, version INTEGER, programs TEXT, "
	"user_share_milli INTEGER, blocked_share_milli INTEGER, cores_milli INTEGER, "
	"minflt_milli INTEGER, majflt_milli INTEGER, nvcsw_milli INTEGER, rchar_milli "
	"INTEGER, wchar_milli INTEGER, read_milli INTEGER, write_milli INTEGER, "
	"syscr_milli INTEGER, syscw_milli INTEGER, read_size_milli INTEGER, "
	"write_size_milli INTEGER, write_to_read_milli INTEGER, processes_milli INTEGER, "
	"execs_milli INTEGER, threads_milli INTEGER, memory_reuse_milli INTEGER, "
	"memory_of_one_milli INTEGER, memory_anon_milli INTEGER, program_share_milli "
	"INTEGER, programs_used_milli INTEGER, memory_1_milli INTEGER, memory_2_milli "
	"INTEGER, memory_3_milli INTEGER, memory_4_milli INTEGER, memory_5_milli INTEGER,"
	" memory_6_milli INTEGER, memory_7_milli INTEGER, memory_8_milli INTEGER, PRIMARY"
	" KEY(run)) WITHOUT ROWID;";

static void assert_create(const struct stored_table *t, const char *text)
{
	static const struct metric_set none;
	sqlite3_str *sql = sqlite3_str_new(NULL);
	char *made;

	table_put_create(sql, t, &none);
	made = sqlite3_str_finish(sql);
	assert_string_equal(made, text);
	sqlite3_free(made);
}

static void tables_of_schema_2_do_not_change(void **state)
{
	(void)state;
	assert_int_equal(STORE_SCHEMA, 2);
	assert_create(&process_table, process_of_2);
	assert_create(&process_sample_table, process_sample_of_2);
	assert_create(&span_table, span_of_2);
	assert_create(&signature_table, signature_of_2);
}

/* @what of the column in the file, if it is there with that type; -1 or 0 else. */
static int64_t ask_column(const char *path, const char *what, const struct stored_table *t,
			  const struct table_column *c)
{
	char sql[300];

	snprintf(sql, sizeof(sql),
		 "SELECT %s FROM pragma_table_info('%s') WHERE name='%s' AND type='%s'", what,
		 t->name, c->name, column_is_text(c) ? "TEXT" : "INTEGER");
	return ask(path, sql);
}

static void files_have_the_columns_of_the_tables(void **state)
{
	struct place *p = *state;

	keep(p->path, RUN);
	each_table(t) each_column(c, *t) if (ask_column(p->path, "count(*)", *t, c) != 1)
		fail_msg("%s has no column %s", (*t)->name, c->name);
}

static void keys_are_not_null(void **state)
{
	struct place *p = *state;

	keep(p->path, RUN);
	each_table(t) each_column(c, *t) if (c->is_key)
		assert_int_equal(ask_column(p->path, "\"notnull\" AND pk", *t, c), 1);
}

static void columns_and_their_members_are_unique(void **state)
{
	(void)state;
	each_table(t) each_column(a, *t) each_column(b, *t)
	{
		assert_true(a == b || strcmp(a->name, b->name) != 0);
		assert_true(a == b || a->is_unread || b->is_unread || a->offset != b->offset);
		assert_ptr_equal(table_column_find((*t)->name, a->name), a);
	}
}

/* Everything that a record can have, each of another value; @end: 0 ended, 1 killed, 2 alive. */
static void full_process(struct process *p, int end)
{
	uint64_t factor = 3;

	fixture_process(p);
	p->ppid = 4240;
	p->span = 5;
	p->gpu_memory_peak_bytes = 12345;
	p->children_cpu_ns = 1000000001;
	p->args_cut = true;
	p->lossy = true;
	p->joined_epoch_ns = p->start_epoch_ns + 1000;
	p->left_epoch_ns = p->start_epoch_ns + 2000;
	p->execs = 17;
	p->exit_code = end == 0 ? 3 : 0;
	p->signal = end == 1 ? 11 : 0;
	p->has_ended = end != 2;
	p->state = end == 2 ? 'S' : '\0';
	p->end_epoch_ns = end == 2 ? 0 : p->end_epoch_ns;
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(&p->have, (enum metric_id)i))
			p->value[i] = factor++ * 1000;
}

static int write_again(void *context, struct line *l)
{
	write_process(context, &l->process);
	return 0;
}

static void every_column_of_a_process_comes_back_as_it_was_written(void **state)
{
	struct jsonw lines = { 0 }, again = { 0 };
	struct place *p = *state;
	struct process process;
	struct source from;
	char *text;

	for (int end = 0; end < 3; end++) {
		full_process(&process, end);
		write_process(&lines, &process);
	}
	assert_true(asprintf(&text, "%s%s", RUN, lines.text) > 0);
	keep(p->path, text);
	assert_int_equal(source_open_stored(&from, p->path, 1, RUN_FINISHED), 0);
	assert_int_equal(source_each(&from, PART(LINE_PROCESS), write_again, &again), 0);
	assert_string_equal(again.text, lines.text);
	source_close(&from);
	free(text);
	jsonw_done(&lines);
	jsonw_done(&again);
}

/* Else the test above would pass with a column that is always NULL. */
static void every_column_of_a_process_is_filled(void **state)
{
	struct jsonw lines = { 0 };
	struct place *p = *state;
	struct process process;
	char *text, sql[120];

	for (int end = 0; end < 3; end++) {
		full_process(&process, end);
		write_process(&lines, &process);
	}
	assert_true(asprintf(&text, "%s%s", RUN, lines.text) > 0);
	keep(p->path, text);
	each_column(c, &process_table)
	{
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM process WHERE %s IS NOT NULL",
			 c->name);
		if (ask(p->path, sql) < 1)
			fail_msg("nothing fills the column %s", c->name);
	}
	free(text);
	jsonw_done(&lines);
}

static void columns_of_numbers_have_a_range(void **state)
{
	int64_t least, most;

	(void)state;
	column_range(table_column_find("process", "pid"), &least, &most);
	assert_int_equal(least, INT32_MIN);
	assert_int_equal(most, INT32_MAX);
	column_range(table_column_find("process", "threads_total"), &least, &most);
	assert_int_equal(least, 0);
	assert_int_equal(most, UINT32_MAX);
	column_range(table_column_find("run", "wall_ns"), &least, &most);
	assert_int_equal(least, 0);
	assert_int_equal(most, INT64_MAX);
	assert_null(table_column_find("process", "cpu_ns"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_schema_2_do_not_change),
		PLACE_TEST(files_have_the_columns_of_the_tables),
		PLACE_TEST(keys_are_not_null),
		cmocka_unit_test(columns_and_their_members_are_unique),
		PLACE_TEST(every_column_of_a_process_comes_back_as_it_was_written),
		PLACE_TEST(every_column_of_a_process_is_filled),
		cmocka_unit_test(columns_of_numbers_have_a_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
