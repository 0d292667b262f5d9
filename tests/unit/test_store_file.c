// SPDX-License-Identifier: BSD-2-Clause
/* A store's file: who may read it, which are brought forward, which are refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/edit.h"
#include "store/store.h"
#include "store/source.h"
#include "store/check.h"
#include "store/merge.h"
#include "store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>

#define PROCESS_IN_2 "{\"kind\":\"process\",\"pid\":8,\"span\":2,\"cpu_seconds\":0.5}\n"

static void file_is_its_users_alone(void **state)
{
	struct place *p = *state;
	char path[200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/new/folders/x.sqlite", p->dir);
	keep(path, RUN);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void file_of_an_older_bpfmon_is_brought_forward(void **state)
{
	struct place *p = *state;

	keep(p->path, RUN SUMMARY);
	tell(p->path, TO_SCHEMA_2 "DROP VIEW runs; PRAGMA user_version=1");
	keep(p->path, META_OF("02", ""));
	assert_int_equal(ask(p->path, "SELECT count(*) FROM runs"), 2);
	assert_int_equal(ask(p->path, "PRAGMA user_version"), STORE_SCHEMA);
}

/* Of a file that has the columns of metrics before that of spans, as each such file has. */
static void file_without_spans_gets_them_and_keeps_what_it_has(void **state)
{
	struct place *p = *state;
	struct database d;
	int64_t rows;

	keep(p->path, RUN SAMPLE_1 PROCESS_1 SUMMARY);
	tell(p->path, TO_SCHEMA_2);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM pragma_table_info('process')"
				      " WHERE name='span'"),
			 0);
	keep(p->path, META_OF("02", "") SPAN("2", "", "build") PROCESS_IN_2);
	assert_int_equal(ask(p->path,
			     "SELECT count(*) FROM processes WHERE run=1 AND span IS NULL AND"
			     " cpu_seconds=0.25 AND exe='/bin/cc'"),
			 1);
	assert_int_equal(ask(p->path, "SELECT span FROM processes WHERE run=2"), 2);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM spans WHERE run=2 AND name='build' AND"
				      " cpu_seconds=0.25"),
			 1);
	assert_int_equal(database_open(&d, p->path, DATABASE_READ), 0);
	assert_int_equal(store_check(&d, &rows), 0);
	database_close(&d);
}

/* What its summaries have of it is not gone through: that takes long, and they are old. */
static void memory_needed_is_unknown_of_runs_of_an_older_bpfmon(void **state)
{
	struct stored_runs all = { 0 };
	struct place *p = *state;
	struct database d;

	keep(p->path, RUN SUMMARY);
	tell(p->path, TO_SCHEMA_8);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(database_open(&d, p->path, i ? DATABASE_CHANGE : DATABASE_READ),
				 0);
		assert_int_equal(query_runs(&d, 0, &(struct run_filter){ 0 }, &all), 0);
		assert_int_equal(all.nr, 1);
		assert_int_equal(run_needed_bytes(&all.runs[0]), -1);
		assert_int_equal(all.runs[0].rss_peak_bytes, 8192);
		stored_runs_done(&all);
		database_close(&d);
	}
	assert_int_equal(ask(p->path, "PRAGMA user_version"), STORE_SCHEMA);
	keep(p->path, META_OF("02", "") SUMMARY);
	assert_int_equal(ask(p->path, "SELECT count(memory_needed_bytes) FROM runs"), 1);
}

static int process_take(void *context, struct line *l)
{
	*(struct process *)context = l->process;
	return 0;
}

static int span_fail(void *context, struct line *l)
{
	(void)context;
	(void)l;
	return -EEXIST;
}

/* A file of a user that may only be read is not brought forward. */
static void file_without_spans_is_read_as_it_is(void **state)
{
	struct run_filter by_span = { .span = "*" };
	struct stored_runs all = { 0 };
	struct place *p = *state;
	struct process process;
	struct source from;
	struct database d;
	int64_t rows;

	keep(p->path, RUN SAMPLE_1 PROCESS_1 SUMMARY);
	tell(p->path, TO_SCHEMA_2);
	assert_int_equal(source_open_stored(&from, p->path, 1, RUN_FINISHED), 0);
	assert_int_equal(source_each(&from, PART(LINE_PROCESS), process_take, &process), 0);
	assert_int_equal(process.value[M_cpu], 250000000);
	assert_int_equal(process.span, 0);
	assert_int_equal(source_each(&from, PART(LINE_SPAN), span_fail, NULL), 0);
	source_close(&from);
	assert_int_equal(database_open(&d, p->path, DATABASE_READ), 0);
	assert_int_equal(store_check(&d, &rows), 0);
	assert_int_equal(query_runs(&d, 0, &by_span, &all), 0);
	assert_int_equal(all.nr, 0);
	assert_int_equal(query_runs(&d, 0, &(struct run_filter){ 0 }, &all), 0);
	assert_int_equal(all.nr, 1);
	stored_runs_done(&all);
	database_close(&d);
	assert_int_equal(ask(p->path, "PRAGMA user_version"), 2);
}

static void file_without_notes_gets_them_and_is_read_as_it_is_before(void **state)
{
	struct stored_runs all = { 0 };
	struct place *p = *state;
	struct database d;
	int64_t rows;

	keep(p->path, RUN SAMPLE_1 SUMMARY);
	tell(p->path, TO_SCHEMA_3);
	assert_int_equal(database_open(&d, p->path, DATABASE_READ), 0);
	assert_int_equal(query_runs(&d, 0, &(struct run_filter){ 0 }, &all), 0);
	assert_int_equal(all.nr, 1);
	assert_null(all.runs[0].note);
	stored_runs_done(&all);
	database_close(&d);
	keep(p->path, META_OF("02", "\"note\":\"patched\","));
	assert_int_equal(ask(p->path, "SELECT count(*) FROM runs WHERE run=1 AND note IS NULL AND"
				      " wall_seconds=2.5"),
			 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM runs WHERE run=2 AND note='patched'"),
			 1);
	assert_int_equal(database_open(&d, p->path, DATABASE_READ), 0);
	assert_int_equal(store_check(&d, &rows), 0);
	database_close(&d);
}

/* As an edit by the bpfmon before, which noted no time. */
static void file_of_schema_4_is_merged_and_its_edits_have_no_time(void **state)
{
	const struct meta_changes c = { "edited", NULL, NULL, 0, 0 };
	struct merged m = { 0 };
	struct place *p = *state;
	struct store_writer w;
	struct database d;
	char own[200];

	snprintf(own, sizeof(own), "%s/own.sqlite", p->dir);
	keep(own, RUN SUMMARY);
	keep(p->path, RUN SUMMARY);
	keep(p->path, META_OF("02", "\"name\":\"other\",\"note\":\"n\",") SUMMARY);
	assert_int_equal(database_open(&d, p->path, DATABASE_CHANGE), 0);
	assert_int_equal(store_edit_run(&d, 1, &c), 0);
	database_close(&d);
	tell(p->path, TO_SCHEMA_4);
	assert_int_equal(store_writer_open(&w, own), 0);
	assert_int_equal(merge_store(&w.d, p->path, false, store_take_words, &m), 0);
	store_writer_close(&w);
	assert_int_equal(m.added, 1);
	assert_int_equal(m.known, 1);
	assert_int_equal(m.edited, 0);
	assert_int_equal(ask(own, "SELECT count(*) FROM runs WHERE name='align' AND"
				  " edited_time IS NULL"),
			 1);
	assert_int_equal(ask(own, "SELECT count(*) FROM runs WHERE note='n'"), 1);
	assert_int_equal(ask(p->path, "PRAGMA user_version"), 4);
}

static void run_that_is_edited_is_another_in_all_its_places(void **state)
{
	const char *const tags[] = { "sample=", "batch=3" };
	const struct meta_changes c = { "sorted", "a note", tags, 2, 1763690000123456789 };
	struct place *p = *state;
	struct database d;

	keep(p->path, RUN SUMMARY);
	keep(p->path, META_OF("02", "\"name\":\"other\",") SUMMARY);
	tell(p->path, TO_SCHEMA_3);
	assert_int_equal(database_open(&d, p->path, DATABASE_CHANGE), 0);
	assert_int_equal(store_edit_run(&d, 1, &c), 0);
	assert_int_equal(store_edit_run(&d, 77, &c), -ENOENT);
	assert_non_null(strstr(d.why, "removed"));
	database_close(&d);
	assert_int_equal(ask(p->path,
			     "SELECT count(*) FROM run JOIN run_text ON id=run WHERE id=1 AND"
			     " name='sorted' AND note='a note' AND"
			     " edited_time_ns=1763690000123456000 AND"
			     " json_extract(meta,'$.edited_time')=1763690000.123456 AND"
			     " json_extract(meta,'$.name')='sorted' AND"
			     " json_extract(meta,'$.note')='a note' AND"
			     " json_extract(meta,'$.tags')='{\"batch\":\"3\"}' AND"
			     " json_extract(meta,'$.start_time')=1001"),
			 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM tag WHERE run=1"), 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run WHERE id=2 AND name='other' AND"
				      " note IS NULL"),
			 1);
}

static void edit_that_is_refused_changes_nothing(void **state)
{
	const struct meta_changes c = { "sorted", "caf\xe9", NULL, 0, 0 };
	struct place *p = *state;
	struct database d;

	keep(p->path, RUN SUMMARY);
	assert_int_equal(database_open(&d, p->path, DATABASE_CHANGE), 0);
	assert_int_equal(store_edit_run(&d, 1, &c), -EILSEQ);
	assert_non_null(strstr(d.why, "UTF-8"));
	database_close(&d);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run WHERE name='align'"), 1);
}

static void metric_that_an_old_file_lacks_is_added(void **state)
{
	struct place *p = *state;

	keep(p->path, RUN SAMPLE_1);
	tell(p->path, "DROP VIEW samples; ALTER TABLE sample DROP COLUMN cpu_ns;"
		      "ALTER TABLE sample ADD COLUMN of_tomorrow_ns INTEGER");
	keep(p->path, META_OF("02", "") SAMPLE_1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM samples WHERE run=1 AND"
				      " cpu_seconds IS NULL AND of_tomorrow_seconds IS NULL"),
			 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM samples WHERE cpu_seconds=0.5"), 1);
}

static void file_of_a_newer_bpfmon_is_refused(void **state)
{
	struct place *p = *state;
	struct database d;

	keep(p->path, RUN);
	tell(p->path, "PRAGMA user_version=99");
	assert_int_equal(database_open(&d, p->path, DATABASE_WRITE), -EPROTONOSUPPORT);
	assert_non_null(strstr(d.why, "a newer bpfmon"));
	assert_non_null(strstr(d.why, "99"));
	assert_int_equal(database_open(&d, p->path, DATABASE_READ), -EPROTONOSUPPORT);
}

static void database_of_another_program_is_left_alone(void **state)
{
	struct place *p = *state;
	struct database d;

	tell(p->path, "CREATE TABLE theirs(x)");
	assert_int_equal(database_open(&d, p->path, DATABASE_WRITE), -EMEDIUMTYPE);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sqlite_master"), 1);
}

static void file_that_is_no_database_is_refused(void **state)
{
	struct place *p = *state;
	struct database d;

	file_write(p->path, "once upon a time there was a text, longer than the header that a "
			    "database would have, which is one hundred bytes");
	assert_int_equal(database_open(&d, p->path, DATABASE_WRITE), -EUCLEAN);
	assert_non_null(strstr(d.why, "not a store"));
}

static void bytes_that_were_flipped_are_an_error_and_no_crash(void **state)
{
	struct place *p = *state;
	struct store_writer w;
	int fd;

	keep(p->path, RUN SAMPLE_1 SAMPLE_2 PROCESS_1 SUMMARY);
	assert_int_equal(ask(p->path, "PRAGMA wal_checkpoint(TRUNCATE)"), 0);
	fd = open(p->path, O_RDWR | O_CLOEXEC);
	for (off_t at = 4096; at < 200000; at += 97)
		assert_int_equal(pwrite(fd, "\xa5", 1, at), 1);
	close(fd);
	assert_int_not_equal(store_writer_open(&w, p->path), 0);
	assert_string_not_equal(w.d.why, "");
}

static void wal_is_for_local_file_systems_only(void **state)
{
	(void)state;
	assert_true(database_is_local(EXT4_SUPER_MAGIC));
	assert_true(database_is_local(TMPFS_MAGIC));
	assert_false(database_is_local(NFS_SUPER_MAGIC));
	assert_false(database_is_local(0x0bd00bd0)); /* Lustre */
	assert_false(database_is_local(FUSE_SUPER_MAGIC));
	assert_false(database_is_local(0x12345678));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(file_is_its_users_alone),
		PLACE_TEST(file_of_an_older_bpfmon_is_brought_forward),
		PLACE_TEST(file_without_spans_gets_them_and_keeps_what_it_has),
		PLACE_TEST(file_without_spans_is_read_as_it_is),
		PLACE_TEST(memory_needed_is_unknown_of_runs_of_an_older_bpfmon),
		PLACE_TEST(edit_that_is_refused_changes_nothing),
		PLACE_TEST(file_of_schema_4_is_merged_and_its_edits_have_no_time),
		PLACE_TEST(run_that_is_edited_is_another_in_all_its_places),
		PLACE_TEST(file_without_notes_gets_them_and_is_read_as_it_is_before),
		PLACE_TEST(metric_that_an_old_file_lacks_is_added),
		PLACE_TEST(file_of_a_newer_bpfmon_is_refused),
		PLACE_TEST(database_of_another_program_is_left_alone),
		PLACE_TEST(file_that_is_no_database_is_refused),
		PLACE_TEST(bytes_that_were_flipped_are_an_error_and_no_crash),
		PLACE_TEST(wal_is_for_local_file_systems_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
