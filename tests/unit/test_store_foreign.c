// SPDX-License-Identifier: BSD-2-Clause
/* A store where others may plant links and journals: /tmp. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "foreign_fixture.h"
#include "store/database_open.h"
#include "store_fixture.h"

#include <errno.h>

static void assert_not_written(const char *path, int err)
{
	struct database d;

	assert_int_equal(database_open(&d, path, DATABASE_WRITE), err);
	assert_non_null(strstr(d.why, "world-writable directory"));
	assert_int_equal(database_open(&d, path, DATABASE_CHANGE), err);
	assert_non_null(strstr(d.why, "world-writable directory"));
}

static void empty_the_victim(const struct foreign *f)
{
	assert_int_equal(truncate(f->victim, 0), 0);
}

static void assert_empty(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);
}

static void link_of_another_user_is_not_followed(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	empty_the_victim(f);
	link_of(NOBODY, f->victim, f->place->path);
	assert_not_written(f->place->path, -EACCES);
	assert_empty(f->victim);
}

static void folders_are_not_made_through_a_link_of_another_user(void **state)
{
	const struct foreign *f = *state;
	char elsewhere[96], link[96], path[128];

	NEEDS_ROOT();
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", f->place->dir);
	snprintf(link, sizeof(link), "%s/link", f->place->dir);
	snprintf(path, sizeof(path), "%s/new/store", link);
	assert_int_equal(mkdir(elsewhere, 0755), 0);
	link_of(NOBODY, elsewhere, link);
	assert_not_written(path, -EACCES);
	assert_int_equal(files_in(elsewhere), 0);
}

static void link_of_ones_own_is_followed_to_a_new_store(void **state)
{
	const struct foreign *f = *state;
	char target[128];

	NEEDS_ROOT();
	snprintf(target, sizeof(target), "%s/target", f->place->dir);
	link_of(0, target, f->place->path);
	keep(f->place->path, RUN SAMPLE_1);
	assert_int_equal(ask(target, "SELECT count(*) FROM sample"), 1);
	assert_rights(target, 0, 0600);
}

static void store_of_another_user_is_not_written_to_there(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	keep(f->place->path, RUN);
	assert_int_equal(chown(f->place->path, NOBODY, NOBODY), 0);
	assert_not_written(f->place->path, -EPERM);
}

static void store_with_a_second_name_is_not_written_to_there(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	empty_the_victim(f);
	assert_int_equal(link(f->victim, f->place->path), 0);
	assert_not_written(f->place->path, -EPERM);
	assert_empty(f->victim);
}

static void assert_refused_beside(const struct foreign *f, const char *suffix)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", f->place->path, suffix);
	file_of(NOBODY, 0666, path);
	assert_not_written(f->place->path, -EPERM);
	assert_file(path, "old\n");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(f->victim, path), 0);
	assert_not_written(f->place->path, -EPERM);
	assert_unharmed(f);
	assert_int_equal(unlink(path), 0);
}

static void journal_of_another_user_is_not_played_back(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	keep(f->place->path, RUN);
	assert_refused_beside(f, "-journal");
	assert_refused_beside(f, "-wal");
	assert_refused_beside(f, "-shm");
}

static void store_of_ones_own_is_kept_there(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	keep(f->place->path, RUN SAMPLE_1);
	keep(f->place->path, META_OF("02", "") SAMPLE_1);
	assert_int_equal(ask(f->place->path, "SELECT count(*) FROM sample"), 2);
	assert_rights(f->place->path, 0, 0600);
	assert_int_equal(files_in(f->place->dir), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FOREIGN_TEST(link_of_another_user_is_not_followed),
		FOREIGN_TEST(folders_are_not_made_through_a_link_of_another_user),
		FOREIGN_TEST(link_of_ones_own_is_followed_to_a_new_store),
		FOREIGN_TEST(store_of_another_user_is_not_written_to_there),
		FOREIGN_TEST(store_with_a_second_name_is_not_written_to_there),
		FOREIGN_TEST(journal_of_another_user_is_not_played_back),
		FOREIGN_TEST(store_of_ones_own_is_kept_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
