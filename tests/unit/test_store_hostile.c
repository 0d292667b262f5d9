// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stores whose values are not what their columns hold: each column of each table with values of all
 * kinds. All that reads a store either reads it, or says that it is damaged, as the check does.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../fuzz/store_readers.h"
#include "store/database_open.h"
#include "store/schema.h"
#include "store_fixture.h"
#include "sweep.h"

#define SCHEMA "\"schema\":\"bpfmon/1\",\"tags\":{\"sample\":\"A7\"},"
#define MARK(at) "{\"kind\":\"event\",\"time\":" at ",\"event\":\"mark\",\"text\":\"a\"}\n"
#define METRIC "{\"kind\":\"metric\",\"time\":1003.5,\"name\":\"loss\",\"value\":1}\n"
#define BLOCKS                                                                                     \
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<210)"                \
	" INSERT INTO block(run, elapsed_ns, cpu_ns, rss_bytes) SELECT 1, i, i, 4096 FROM n"

static const char *const hostile_values[] = {
	"NULL",
	"x'00ff7f'",
	"'abc'",
	"''",
	"CAST(x'fffe1b5b326a' AS TEXT)",
	"1.5",
	"1e308",
	"9e999",
	"-1",
	"-9223372036854775808",
	"9223372036854775807",
	"printf('%.*c', 300000, 'x')",
};
#define NR_VALUES (sizeof(hostile_values) / sizeof(*hostile_values))

static const char *const all_tables[] = { "run",     "run_text",       "tag",   "sample", "block",
					  "process", "process_sample", "event", "span" };
#define NR_TABLES (sizeof(all_tables) / sizeof(*all_tables))

/* A store with all there is of a run, in one file; its columns take NULL. */
static void make_whole(const char *path)
{
	keep(path, META_OF("01", SCHEMA) SAMPLE_1 PROCESS_SAMPLE("1", "7", "900") MARK("1001.5")
			   SAMPLE_2 METRIC SPAN("1", "", "a") PROCESS_1 SUMMARY);
	tell(path, BLOCKS);
	tell(path, "PRAGMA journal_mode=DELETE; PRAGMA writable_schema=ON;"
		   "UPDATE sqlite_master SET sql=replace(sql, ' NOT NULL', '')");
}

static void make_empty(const char *path)
{
	struct database d;

	assert_int_equal(database_open(&d, path, DATABASE_WRITE), 0);
	database_close(&d);
}

struct sweep {
	char whole[120], hostile[120], empty[120], into[120];
	struct sweep_part part; /* of the cases */
	unsigned long cases;
	unsigned long stores, refused;
};

static void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat st;

	assert_true(in >= 0 && out >= 0);
	assert_int_equal(fstat(in, &st), 0);
	assert_int_equal(copy_file_range(in, NULL, out, NULL, (size_t)st.st_size, 0), st.st_size);
	close(in);
	close(out);
}

/* Whether the store could be made: some columns take no such value. */
static bool make_hostile(const struct sweep *w, const char *sql)
{
	sqlite3 *db = NULL;
	bool is_made;

	copy_file(w->whole, w->hostile);
	assert_int_equal(sqlite3_open(w->hostile, &db), SQLITE_OK);
	is_made = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK && sqlite3_changes(db);
	sqlite3_close(db);
	return is_made;
}

static void read_one(const struct sweep *w, struct store_read *what)
{
	copy_file(w->empty, w->into);
	readers_run(w->hostile, w->into, what);
	readers_remove(w->into);
}

static void read_hostile(struct sweep *w, const char *sql)
{
	struct store_read what;

	if (!sweep_has(w->part, w->cases++) || !make_hostile(w, sql))
		return;
	read_one(w, &what);
	w->stores++;
	w->refused += what.opened || what.checked;
	if (what.opened || what.merged)
		fail_msg("%s: %d, %d: %s", sql, what.opened, what.merged, what.why);
	if (what.checked && !strstr(what.why, "damaged") && !strstr(what.why, "longer"))
		fail_msg("%s: %s", sql, what.why);
}

/* Of the values every @step-th from the @first one on, in the last row of the run. */
static void sweep_column(struct sweep *w, const char *table, const char *column, size_t first,
			 size_t step)
{
	const char *run = strcmp(table, "run") ? "run" : "id";
	char sql[400];

	for (size_t i = first; i < NR_VALUES; i += step) {
		snprintf(sql, sizeof(sql),
			 "UPDATE %s SET %s=%s WHERE %s=1 AND %s IS"
			 " (SELECT max(%s) FROM %s WHERE %s=1)",
			 table, column, hostile_values[i], run, column, column, table, run);
		read_hostile(w, sql);
	}
}

/* The columns of metrics are read in one way: each is given one value, all of them each value. */
static void sweep_table(struct sweep *w, const char *table)
{
	sqlite3_stmt *s = NULL;
	sqlite3 *db = NULL;
	size_t metrics = 0;

	assert_int_equal(sqlite3_open(w->whole, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?)", -1, &s, NULL),
		SQLITE_OK);
	sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	while (sqlite3_step(s) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(s, 0);
		char name[COLUMN_BYTES];
		bool is_metric = false;

		for (int i = 0; i < NR_METRICS; i++)
			is_metric |= !strcmp(column, column_name(name, (enum metric_id)i));
		sweep_column(w, table, column, is_metric ? metrics++ % NR_VALUES : 0,
			     is_metric ? NR_VALUES : 1);
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
}

static void sweep_begin(struct sweep *w, const struct place *p)
{
	*w = (struct sweep){ 0 };
	snprintf(w->whole, sizeof(w->whole), "%s/whole.sqlite", p->dir);
	snprintf(w->hostile, sizeof(w->hostile), "%s/hostile.sqlite", p->dir);
	snprintf(w->into, sizeof(w->into), "%s/into.sqlite", p->dir);
	snprintf(w->empty, sizeof(w->empty), "%s/empty.sqlite", p->dir);
	make_empty(w->empty);
	make_whole(w->whole);
}

static void any_value_in_any_column_is_read_or_called_damage(void **state)
{
	struct sweep w;

	sweep_begin(&w, *state);
	w.part = sweep_choose(
		37); /* with the twelve values, each column has another one in each part */
	for (size_t t = 0; t < NR_TABLES; t++)
		sweep_table(&w, all_tables[t]);
	assert_in_range(w.stores, 600 / w.part.every, 5000 / w.part.every);
	assert_in_range(w.refused, 400 / w.part.every, w.stores - 100 / w.part.every);
	print_message("%lu stores, %lu of them refused\n", w.stores, w.refused);
}

/* A value that is read, and the words that are said of it. */
static void first_value_that_is_wrong_is_named(void **state)
{
	static const struct {
		const char *sql, *said;
	} cases[] = {
		{ "UPDATE event SET line=NULL", "column line of the table event" },
		{ "UPDATE sample SET cpu_ns='abc'", "column cpu_ns of the table sample" },
		{ "UPDATE process SET exe=x'00'", "column exe of the table process" },
		{ "UPDATE run SET uuid=NULL", "column uuid of the table run" },
		{ "UPDATE tag SET value=7.5", NULL }, /* a text: its column makes it one */
		{ "UPDATE run_text SET meta='{}'", "the text of kind meta of run 1" },
		{ "DELETE FROM run_text", "has no meta line" },
	};
	struct store_read what;
	struct sweep w;

	sweep_begin(&w, *state);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(make_hostile(&w, cases[i].sql));
		read_one(&w, &what);
		if (!cases[i].said)
			assert_int_equal(what.checked, 0);
		else if (!strstr(what.why, cases[i].said))
			fail_msg("%s: %s", cases[i].sql, what.why);
	}
}

/* The bound is twentyfold what the most laborious reading takes, at least. */
static void work_of_reading_all_of_a_store_is_far_below_its_bound(void **state)
{
	struct place *p = *state;
	uint64_t steps, bytes;
	struct database d;
	struct sweep w;
	int64_t rows;

	sweep_begin(&w, p);
	tell(w.whole,
	     "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i+1 FROM n WHERE i<50000)"
	     " INSERT INTO process(run, seq, pid, comm) SELECT 1, i, i, 'cc' FROM n");
	assert_int_equal(database_open(&d, w.whole, DATABASE_READ), 0);
	steps = d.steps_left;
	assert_int_equal(store_check(&d, &rows), 0);
	steps -= d.steps_left;
	bytes = (uint64_t)ask(w.whole, "SELECT page_count * page_size FROM pragma_page_count,"
				       " pragma_page_size");
	assert_in_range(steps, 100000, 10 * bytes); /* of 200 for each byte */
	print_message("%llu steps for %llu bytes\n", (unsigned long long)steps,
		      (unsigned long long)bytes);
	database_close(&d);
}

static void statement_without_end_is_ended(void **state)
{
	struct database d;
	struct sweep w;
	int64_t n;

	sweep_begin(&w, *state);
	assert_int_equal(database_open(&d, w.whole, DATABASE_READ), 0);
	assert_int_equal(database_number(&d, &n, NULL,
					 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1"
					 " FROM n) SELECT count(i) FROM n"),
			 -EUCLEAN);
	assert_non_null(strstr(d.why, "more work than its size explains"));
	database_close(&d);
}

/* Members of lines are not of the kind that a column holds; what is kept of them is. */
static void lines_of_wrong_kinds_make_a_store_that_is_whole(void **state)
{
	struct place *p = *state;
	struct database d;
	int64_t rows;

	keep(p->path,
	     META_OF("01",
		     "\"name\":7,\"job\":{},\"tags\":{\"a\":1},"
		     "\"schema\":\"bpfmon/1\",") "{\"kind\":\"process\",\"pid\":\"x\",\"ppid\":"
						 "99999999999,\"uid\":-1,\"comm\":5,"
						 "\"exe\":7,\"state\":3,\"exit_code\":\"x\","
						 "\"threads_total\":-1,"
						 "\"rss_peak_bytes\":-5}\n"
						 "{\"kind\":\"event\",\"event\":5,\"time\":-3}\n"
						 "{\"kind\":\"summary\",\"complete\":\"no\","
						 "\"losses\":{},\"exit_code\":\"3\","
						 "\"signal\":-99999999999,\"processes_total\":-1}"
						 "\n");
	assert_int_equal(database_open(&d, p->path, DATABASE_READ), 0);
	assert_int_equal(store_check(&d, &rows), 0);
	database_close(&d);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM process WHERE pid IS NULL AND"
				      " uid IS NULL AND comm IS NULL AND exit_code IS NULL"),
			 1);
}

static void memory_that_sqlite_lacks_is_no_damage(void **state)
{
	struct database d = { 0 };

	(void)state;
	assert_int_equal(database_error(&d, SQLITE_NOMEM), -ENOMEM);
	assert_int_equal(database_error(&d, SQLITE_IOERR_NOMEM), -ENOMEM);
	assert_string_equal(d.why, "out of memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(any_value_in_any_column_is_read_or_called_damage),
		PLACE_TEST(first_value_that_is_wrong_is_named),
		PLACE_TEST(work_of_reading_all_of_a_store_is_far_below_its_bound),
		PLACE_TEST(statement_without_end_is_ended),
		PLACE_TEST(lines_of_wrong_kinds_make_a_store_that_is_whole),
		PLACE_TEST(memory_that_sqlite_lacks_is_no_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
