/* SPDX-License-Identifier: BSD-2-Clause */
/* Another user's links and files beside root's, in folders like /tmp. */
#ifndef TESTS_UNIT_FOREIGN_FIXTURE_H
#define TESTS_UNIT_FOREIGN_FIXTURE_H

#include "output_fixture.h"

#define NOBODY 65534

/* The folder of the place is as /tmp, and beside it is a victim that nobody else may touch. */
struct foreign {
	struct place *place;
	char victim[128];
};

static inline int foreign_make(void **state)
{
	struct foreign *f = calloc(1, sizeof(*f));
	void *place;

	if (!f || place_make(&place))
		return -1;
	f->place = place;
	snprintf(f->victim, sizeof(f->victim), "%s.victim", f->place->dir);
	file_write(f->victim, "victim\n");
	*state = f;
	return chmod(f->victim, 0640) || chmod(f->place->dir, 01777);
}

static inline int foreign_remove(void **state)
{
	struct foreign *f = *state;
	void *place = f->place;

	unlink(f->victim);
	free(f);
	return place_remove(&place);
}

static inline void link_of(uid_t owner, const char *target, const char *path)
{
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(lchown(path, owner, owner), 0);
}

static inline void file_of(uid_t owner, mode_t mode, const char *path)
{
	file_write(path, "old\n");
	assert_int_equal(chown(path, owner, owner), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static inline void assert_rights(const char *path, uid_t owner, mode_t mode)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_uid, owner);
	assert_int_equal(st.st_gid, owner);
	assert_int_equal(st.st_mode & 07777, mode);
}

static inline void assert_unharmed(const struct foreign *f)
{
	assert_file(f->victim, "victim\n");
	assert_rights(f->victim, 0, 0640);
}

/* clang-format off */
#define NEEDS_ROOT() do { if (geteuid()) { print_message("skipped: it needs root\n"); skip(); } } while (0)
/* clang-format on */
#define FOREIGN_TEST(test) cmocka_unit_test_setup_teardown(test, foreign_make, foreign_remove)

#endif
