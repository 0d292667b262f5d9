// SPDX-License-Identifier: BSD-2-Clause
/* Outputs where others may plant links and files: /tmp. Whose a file is, and what it becomes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "foreign_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/fsuid.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#define ROUNDS 10000

static void assert_refused_both_ways(const char *path, int err)
{
	struct output o;

	assert_int_equal(output_open(&o, path, true), err);
	assert_non_null(o.why);
	assert_int_equal(output_open_whole(&o, path, true), err);
	assert_non_null(o.why);
}

static void replace_with(const char *path, const char *text)
{
	struct output o;

	assert_int_equal(output_open(&o, path, true), 0);
	put(&o, text);
	assert_int_equal(output_commit(&o), 0);
	assert_int_equal(output_close(&o), 0);
}

static void link_of_another_user_is_not_followed(void **state)
{
	const struct foreign *f = *state;
	struct output o;

	NEEDS_ROOT();
	link_of(NOBODY, f->victim, f->place->path);
	assert_refused_both_ways(f->place->path, -EACCES);
	assert_int_equal(output_open(&o, f->place->path, false), -EACCES);
	assert_unharmed(f);
	assert_int_equal(files_in(f->place->dir), 1);
}

static void link_of_another_user_on_the_way_is_not_followed(void **state)
{
	const struct foreign *f = *state;
	char link[128], path[160];

	NEEDS_ROOT();
	snprintf(link, sizeof(link), "%s/folder", f->place->dir);
	link_of(NOBODY, "/tmp", link);
	snprintf(path, sizeof(path), "%s%s", link, strrchr(f->victim, '/'));
	assert_refused_both_ways(path, -EACCES);
	assert_unharmed(f);
}

static void link_of_another_user_behind_one_of_ours_is_not_followed(void **state)
{
	const struct foreign *f = *state;
	char first[128];

	NEEDS_ROOT();
	snprintf(first, sizeof(first), "%s/first", f->place->dir);
	link_of(NOBODY, f->victim, f->place->path);
	link_of(0, "./out", first);
	assert_refused_both_ways(first, -EACCES);
	assert_unharmed(f);
}

static void link_of_another_user_is_not_followed_without_a_sticky_bit_either(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	assert_int_equal(chmod(f->place->dir, 0777), 0);
	link_of(NOBODY, f->victim, f->place->path);
	assert_refused_both_ways(f->place->path, -EACCES);
	assert_unharmed(f);
}

static void link_of_ones_own_is_followed_there(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	link_of(0, f->victim, f->place->path);
	replace_with(f->place->path, "new\n");
	assert_file(f->victim, "new\n");
	assert_rights(f->victim, 0, 0640);
	assert_int_equal(files_in(f->place->dir), 1);
}

static void link_of_another_user_in_a_closed_folder_is_followed(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	assert_int_equal(chmod(f->place->dir, 0755), 0);
	link_of(NOBODY, f->victim, f->place->path);
	replace_with(f->place->path, "new\n");
	assert_file(f->victim, "new\n");
}

static void file_of_another_user_is_not_replaced_there(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	file_of(NOBODY, 0666, f->place->path);
	assert_refused_both_ways(f->place->path, -EPERM);
	assert_file(f->place->path, "old\n");
	assert_rights(f->place->path, NOBODY, 0666);
	assert_int_equal(files_in(f->place->dir), 1);
}

static void pipe_of_another_user_is_not_written_to_there(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	assert_int_equal(mkfifo(f->place->path, 0666), 0);
	assert_int_equal(chown(f->place->path, NOBODY, NOBODY), 0);
	assert_refused_both_ways(f->place->path, -EACCES);
}

static void owner_and_mode_are_kept(void **state)
{
	static const mode_t modes[] = { 0600, 0640, 0644, 0400, 06755 };
	const struct foreign *f = *state;

	NEEDS_ROOT();
	assert_int_equal(chmod(f->place->dir, 0755), 0);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		file_of(NOBODY, modes[i], f->place->path);
		replace_with(f->place->path, "new\n");
		assert_file(f->place->path, "new\n");
		assert_rights(f->place->path, NOBODY, modes[i] & 0777);
		unlink(f->place->path);
	}
}

static void acl_is_kept_or_none_is_given(void **state)
{
	/* user::rw-, user:65534:r--, group::---, mask::r--, other::--- */
	static const unsigned char acl[] = {
		2,  0, 0, 0,                       /* version */
		1,  0, 6, 0, 255,  255,  255, 255, /* owner */
		2,  0, 4, 0, 0xfe, 0xff, 0,   0,   /* 65534 */
		4,  0, 0, 0, 255,  255,  255, 255, /* group */
		16, 0, 4, 0, 255,  255,  255, 255, /* mask */
		32, 0, 0, 0, 255,  255,  255, 255, /* others */
	};
	const struct foreign *f = *state;
	const char *path = f->place->path;
	unsigned char now[256];

	NEEDS_ROOT();
	file_of(0, 0600, path);
	if (setxattr(path, "system.posix_acl_access", acl, sizeof(acl), 0)) {
		print_message("skipped: the file system of /tmp has no ACLs\n");
		skip();
	}
	replace_with(path, "new\n");
	assert_int_equal(getxattr(path, "system.posix_acl_access", now, sizeof(now)), sizeof(acl));
	assert_memory_equal(now, acl, sizeof(acl));
	unlink(path);
	file_of(0, 0640, path);
	assert_int_equal(setxattr(f->place->dir, "system.posix_acl_default", acl, sizeof(acl), 0),
			 0);
	replace_with(path, "new\n");
	assert_int_equal(getxattr(path, "system.posix_acl_access", now, sizeof(now)), -1);
	assert_rights(path, 0, 0640);
}

static void other_name_of_the_file_keeps_what_it_has(void **state)
{
	const struct foreign *f = *state;

	NEEDS_ROOT();
	assert_int_equal(link(f->victim, f->place->path), 0);
	replace_with(f->place->path, "new\n");
	assert_file(f->place->path, "new\n");
	assert_unharmed(f);
}

/* In a child that is nobody, in a folder of its own: what opening and closing come to. */
static void owner_that_cannot_be_kept_is_an_error(void **state)
{
	const struct foreign *f = *state;
	int status;

	NEEDS_ROOT();
	assert_int_equal(chmod(f->place->dir, 0755), 0);
	assert_int_equal(chown(f->place->dir, NOBODY, NOBODY), 0);
	file_of(0, 0644, f->place->path);
	if (!fork()) {
		struct output o;

		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		_exit(output_open(&o, f->place->path, true) == -EPERM && o.why ? 0 : 2);
	}
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
	assert_file(f->place->path, "old\n");
	assert_rights(f->place->path, 0, 0644);
	assert_int_equal(files_in(f->place->dir), 1);
}

struct swapper {
	const struct foreign *f;
	atomic_bool is_over;
};

/* As nobody: a file, a link to the victim, nothing, in turn, as fast as it goes. */
static void *swap_for_ever(void *context)
{
	struct swapper *s = context;
	const char *path = s->f->place->path;
	char link[128], file[128];

	snprintf(link, sizeof(link), "%s/link", s->f->place->dir);
	snprintf(file, sizeof(file), "%s/file", s->f->place->dir);
	setfsgid(NOBODY);
	setfsuid(NOBODY);
	while (!s->is_over) {
		int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

		if (fd >= 0)
			close(fd);
		rename(file, path);
		if (!symlink(s->f->victim, link) || errno == EEXIST)
			rename(link, path);
		unlink(path);
	}
	unlink(link);
	unlink(file);
	return NULL;
}

static void victim_is_never_changed_while_links_are_swapped(void **state)
{
	struct swapper s = { .f = *state };
	const char *path = s.f->place->path;
	unsigned nr_opened = 0;
	pthread_t thread;
	struct stat before, after;

	NEEDS_ROOT();
	assert_int_equal(stat(s.f->victim, &before), 0);
	assert_int_equal(pthread_create(&thread, NULL, swap_for_ever, &s), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct output o;
		int err = i % 2 ? output_open(&o, path, i % 4 > 1)
				: output_open_whole(&o, path, i % 4 > 1);

		if (err)
			continue;
		nr_opened++;
		put(&o, "ours\n");
		output_commit(&o);
		output_close(&o);
		unlink(path);
	}
	s.is_over = true;
	pthread_join(thread, NULL);
	assert_unharmed(s.f);
	assert_int_equal(stat(s.f->victim, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
	assert_true(nr_opened > 0);
	unlink(path);
	assert_int_equal(files_in(s.f->place->dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FOREIGN_TEST(link_of_another_user_is_not_followed),
		FOREIGN_TEST(link_of_another_user_on_the_way_is_not_followed),
		FOREIGN_TEST(link_of_another_user_behind_one_of_ours_is_not_followed),
		FOREIGN_TEST(link_of_another_user_is_not_followed_without_a_sticky_bit_either),
		FOREIGN_TEST(link_of_ones_own_is_followed_there),
		FOREIGN_TEST(link_of_another_user_in_a_closed_folder_is_followed),
		FOREIGN_TEST(file_of_another_user_is_not_replaced_there),
		FOREIGN_TEST(pipe_of_another_user_is_not_written_to_there),
		FOREIGN_TEST(owner_and_mode_are_kept),
		FOREIGN_TEST(acl_is_kept_or_none_is_given),
		FOREIGN_TEST(other_name_of_the_file_keeps_what_it_has),
		FOREIGN_TEST(owner_that_cannot_be_kept_is_an_error),
		FOREIGN_TEST(victim_is_never_changed_while_links_are_swapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
