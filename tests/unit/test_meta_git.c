// SPDX-License-Identifier: BSD-2-Clause
/* The revision of a working directory, in repositories of plain files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/meta.h"
#include "meta_fixture.h"

#include <fcntl.h>

#define REVISION "0123456789abcdef0123456789abcdef01234567"
#define OTHER "89abcdef0123456789abcdef0123456789abcdef"
#define LONG_REVISION REVISION "0123456789abcdef01234567"

static int read_in(const struct place *p, const char *folder, struct git *g)
{
	int fd = open(tree_path(p, folder), O_PATH | O_DIRECTORY | O_CLOEXEC), err;

	assert_true(fd >= 0);
	*g = (struct git){ 0 };
	err = git_read(fd, g);
	close(fd);
	return err;
}

static void assert_git(const struct place *p, const char *folder, const char *revision,
		       const char *branch)
{
	struct git g;

	assert_int_equal(read_in(p, folder, &g), 0);
	assert_string_equal(g.revision, revision);
	assert_string_equal(g.branch, branch);
	assert_true(git_is_valid(&g));
}

static void assert_none(const struct place *p, const char *folder)
{
	struct git g;

	assert_int_equal(read_in(p, folder, &g), -ENOENT);
	assert_string_equal(g.revision, "");
	assert_string_equal(g.branch, "");
}

static void link_to(const struct place *p, const char *target, const char *name)
{
	assert_int_equal(symlink(target, tree_path(p, name)), 0);
}

static void a_branch_is_followed_to_its_revision(void **state)
{
	tree_put(*state, ".git/HEAD", "ref: refs/heads/topic/one\n");
	tree_put(*state, ".git/refs/heads/topic/one", REVISION "\n");
	assert_git(*state, "", REVISION, "topic/one");
}

static void a_folder_below_belongs_to_the_repository(void **state)
{
	tree_put(*state, ".git/HEAD", REVISION "\n");
	tree_put(*state, "a/b/c/file", "");
	assert_git(*state, "a/b/c", REVISION, "");
}

static void a_detached_head_has_no_branch(void **state)
{
	tree_put(*state, ".git/HEAD", REVISION "\n");
	assert_git(*state, "", REVISION, "");
}

static void a_sha256_revision_is_taken(void **state)
{
	tree_put(*state, ".git/HEAD", LONG_REVISION "\n");
	assert_git(*state, "", LONG_REVISION, "");
}

static void a_packed_branch_is_found(void **state)
{
	tree_put(*state, ".git/HEAD", "ref: refs/heads/main\n");
	tree_put(*state, ".git/packed-refs",
		 "# pack-refs with: peeled fully-peeled sorted\n" OTHER " refs/heads/mai\n" OTHER
		 " refs/tags/v1\n^" OTHER "\n" REVISION " refs/heads/main\n");
	assert_git(*state, "", REVISION, "main");
}

static void a_loose_branch_is_newer_than_a_packed_one(void **state)
{
	tree_put(*state, ".git/HEAD", "ref: refs/heads/main\n");
	tree_put(*state, ".git/packed-refs", OTHER " refs/heads/main\n");
	tree_put(*state, ".git/refs/heads/main", REVISION "\n");
	assert_git(*state, "", REVISION, "main");
}

static void a_worktree_has_a_head_of_its_own(void **state)
{
	tree_put(*state, "main/.git/HEAD", "ref: refs/heads/main\n");
	tree_put(*state, "main/.git/refs/heads/main", OTHER "\n");
	tree_put(*state, "main/.git/refs/heads/other", REVISION "\n");
	tree_put(*state, "main/.git/worktrees/w/HEAD", "ref: refs/heads/other\n");
	tree_put(*state, "main/.git/worktrees/w/commondir", "../..\n");
	tree_put(*state, "w/.git", "gitdir: ../main/.git/worktrees/w\n");
	assert_git(*state, "w", REVISION, "other");
}

static void a_submodule_has_its_own_revision(void **state)
{
	tree_put(*state, ".git/HEAD", OTHER "\n");
	tree_put(*state, ".git/modules/sub/HEAD", REVISION "\n");
	tree_put(*state, "sub/.git", "gitdir: ../.git/modules/sub\n");
	assert_git(*state, "sub", REVISION, "");
}

static void a_branch_without_a_commit_has_a_name_and_no_revision(void **state)
{
	tree_put(*state, ".git/HEAD", "ref: refs/heads/main\n");
	assert_git(*state, "", "", "main");
}

static void a_branch_in_a_reftable_has_no_revision(void **state)
{
	tree_put(*state, ".git/HEAD", "ref: refs/heads/.invalid\n");
	tree_put(*state, ".git/reftable/tables.list", "x\n");
	assert_none(*state, "");
}

static void outside_a_repository_there_is_no_revision(void **state)
{
	tree_put(*state, "a/file", "");
	assert_none(*state, "a");
}

static void files_that_are_cut_off_give_no_revision(void **state)
{
	tree_put(*state, "a/.git/HEAD", "0123456789abcdef");
	tree_put(*state, "b/.git/HEAD", "");
	tree_put(*state, "c/.git/HEAD", "ref: ");
	tree_put(*state, "d/.git", "gitdir: ");
	assert_none(*state, "a");
	assert_none(*state, "b");
	assert_none(*state, "c");
	assert_none(*state, "d");
	tree_put(*state, "e/.git/HEAD", "ref: refs/heads/main");
	tree_put(*state, "e/.git/packed-refs", REVISION " refs/heads/main");
	tree_put(*state, "e/.git/refs/heads/main", "0123");
	assert_git(*state, "e", "", "main");
}

static void only_a_revision_is_taken_for_one(void **state)
{
	tree_put(*state, "a/.git/HEAD", "root:$6$salt$hash:19000:0:99999:7:::\n");
	tree_put(*state, "b/.git/HEAD", REVISION "0\n");
	tree_put(*state, "c/.git/HEAD", "0123456789ABCDEF0123456789abcdef01234567\n");
	assert_none(*state, "a");
	assert_none(*state, "b");
	assert_none(*state, "c");
}

static void a_reference_leads_nowhere_else(void **state)
{
	tree_put(*state, "secret", REVISION "\n");
	tree_put(*state, "a/.git/HEAD", "ref: refs/../../../secret\n");
	tree_put(*state, "b/.git/HEAD", "ref: /etc/passwd\n");
	tree_put(*state, "c/.git/HEAD", "ref: refs/heads/\033[31m\n");
	assert_none(*state, "a");
	assert_none(*state, "b");
	assert_none(*state, "c");
}

static void no_link_is_followed(void **state)
{
	const struct place *p = *state;

	tree_put(p, "secrets/key", REVISION "\n");
	tree_put(p, "a/.git/config", "");
	link_to(p, "../../secrets/key", "a/.git/HEAD");
	assert_none(p, "a");
	tree_put(p, "b/.git/HEAD", "ref: refs/heads/key\n");
	tree_put(p, "b/.git/refs/tags/x", "");
	link_to(p, "../../../secrets", "b/.git/refs/heads");
	assert_git(p, "b", "", "key");
	tree_put(p, "c/file", "");
	link_to(p, "../secrets", "c/.git");
	assert_none(p, "c");
	tree_put(p, "d/.git/HEAD", "ref: refs/heads/key\n");
	link_to(p, "../../secrets/key", "d/.git/packed-refs");
	assert_git(p, "d", "", "key");
}

static void a_fifo_does_not_block(void **state)
{
	const struct place *p = *state;

	tree_put(p, "a/.git/config", "");
	assert_int_equal(mkfifo(tree_path(p, "a/.git/HEAD"), 0600), 0);
	assert_none(p, "a");
	tree_put(p, "b/file", "");
	assert_int_equal(mkfifo(tree_path(p, "b/.git"), 0600), 0);
	assert_none(p, "b");
	tree_put(p, "c/.git/HEAD", "ref: refs/heads/main\n");
	assert_int_equal(mkfifo(tree_path(p, "c/.git/packed-refs"), 0600), 0);
	assert_git(p, "c", "", "main");
}

static void references_in_a_circle_end(void **state)
{
	tree_put(*state, ".git/HEAD", "ref: refs/heads/a\n");
	tree_put(*state, ".git/refs/heads/a", "ref: refs/heads/b\n");
	tree_put(*state, ".git/refs/heads/b", "ref: refs/heads/a\n");
	assert_git(*state, "", "", "a");
}

static void a_huge_file_is_not_read_through(void **state)
{
	const struct place *p = *state;

	tree_put(p, ".git/HEAD", "");
	assert_int_equal(truncate(tree_path(p, ".git/HEAD"), 1L << 40), 0);
	assert_none(p, "");
}

static void a_revision_and_branch_from_another_process_are_validated(void **state)
{
	struct git g = { .revision = REVISION, .branch = "main" };

	(void)state;
	assert_true(git_is_valid(&g));
	memset(g.branch, 'x', sizeof(g.branch));
	assert_false(git_is_valid(&g));
	strcpy(g.branch, "a\nb");
	assert_false(git_is_valid(&g));
	g.branch[0] = '\0';
	memset(g.revision, 'a', sizeof(g.revision));
	assert_false(git_is_valid(&g));
	strcpy(g.revision, "root:x:0:0");
	assert_false(git_is_valid(&g));
	assert_false(git_is_valid(&(struct git){ 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(a_branch_is_followed_to_its_revision),
		PLACE_TEST(a_folder_below_belongs_to_the_repository),
		PLACE_TEST(a_detached_head_has_no_branch),
		PLACE_TEST(a_sha256_revision_is_taken),
		PLACE_TEST(a_packed_branch_is_found),
		PLACE_TEST(a_loose_branch_is_newer_than_a_packed_one),
		PLACE_TEST(a_worktree_has_a_head_of_its_own),
		PLACE_TEST(a_submodule_has_its_own_revision),
		PLACE_TEST(a_branch_without_a_commit_has_a_name_and_no_revision),
		PLACE_TEST(a_branch_in_a_reftable_has_no_revision),
		PLACE_TEST(outside_a_repository_there_is_no_revision),
		PLACE_TEST(files_that_are_cut_off_give_no_revision),
		PLACE_TEST(only_a_revision_is_taken_for_one),
		PLACE_TEST(a_reference_leads_nowhere_else),
		PLACE_TEST(no_link_is_followed),
		PLACE_TEST(a_fifo_does_not_block),
		PLACE_TEST(references_in_a_circle_end),
		PLACE_TEST(a_huge_file_is_not_read_through),
		cmocka_unit_test(a_revision_and_branch_from_another_process_are_validated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
