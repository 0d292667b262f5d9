// SPDX-License-Identifier: BSD-2-Clause
/* A store's file: its permissions, the columns that it gets, and which files are refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/database_open.h"
#include "store/schema.h"
#include "store/edit.h"
#include "store/store.h"
#include "store/source.h"
#include "store/database.h"
#include "store/merge.h"
#include "store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>

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

static void run_that_is_edited_is_another_in_all_its_places(void **state)
{
	const char *const tags[] = { "sample=", "batch=3" };
	const struct meta_changes c = { "sorted", "a note", tags, 2, 1763690000123456789 };
	struct place *p = *state;
	struct database d;

	keep(p->path, RUN SUMMARY);
	keep(p->path, META_OF("02", "\"name\":\"other\",") SUMMARY);
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

static void metric_that_a_file_lacks_is_added(void **state)
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

static void assert_version_is_refused(const char *path, const char *version)
{
	struct database d;
	char sql[60];

	snprintf(sql, sizeof(sql), "PRAGMA user_version=%s", version);
	tell(path, sql);
	for (int mode = DATABASE_READ; mode <= DATABASE_CHANGE; mode++) {
		assert_int_equal(database_open(&d, path, (enum database_mode)mode),
				 -EPROTONOSUPPORT);
		assert_non_null(strstr(d.why, "another version of bpfmon"));
		assert_non_null(strstr(d.why, version));
		assert_non_null(strstr(d.why, "export"));
	}
	assert_int_equal(ask(path, "PRAGMA user_version"), atoi(version));
}

static void file_of_another_schema_is_refused_and_stays_as_it_is(void **state)
{
	struct place *p = *state;

	keep(p->path, RUN);
	assert_int_equal(ask(p->path, "PRAGMA user_version"), STORE_SCHEMA);
	assert_version_is_refused(p->path, "0");
	assert_version_is_refused(p->path, "1");
	assert_version_is_refused(p->path, "9");
	assert_version_is_refused(p->path, "99");
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run"), 1);
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
	assert_non_null(strstr(d.why, "not a bpfmon store"));
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
		PLACE_TEST(edit_that_is_refused_changes_nothing),
		PLACE_TEST(run_that_is_edited_is_another_in_all_its_places),
		PLACE_TEST(metric_that_a_file_lacks_is_added),
		PLACE_TEST(file_of_another_schema_is_refused_and_stays_as_it_is),
		PLACE_TEST(database_of_another_program_is_left_alone),
		PLACE_TEST(file_that_is_no_database_is_refused),
		PLACE_TEST(bytes_that_were_flipped_are_an_error_and_no_crash),
		PLACE_TEST(wal_is_for_local_file_systems_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
