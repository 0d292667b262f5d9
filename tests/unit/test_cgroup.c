// SPDX-License-Identifier: BSD-2-Clause
/* Finding and making cgroups, on trees of plain folders: %s is where the tree is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cgroup.h"
#include "fixture.h"

#include <errno.h>

#define V1_MOUNT "35 31 0:32 / %s/mem rw,relatime shared:3 master:2 - cgroup cgroup rw,cpu,memory\n"
#define V2_MOUNT "41 31 0:38 / %s/uni rw,relatime - cgroup2 cgroup2 rw\n"

static void folder(const struct place *p, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

/* A process whose /proc/self/cgroup is @cgroup; @mount is a line of its mountinfo. */
static void process(const struct place *p, const char *cgroup, const char *mount)
{
	char line[1024];

	place_put(p, "cgroup", cgroup);
	snprintf(line, sizeof(line), mount, p->dir);
	place_put(p, "mountinfo", line);
}

/* mem/a/b and uni/s/t/u, without files. */
static int tree_make(void **state)
{
	static const char *const folders[] = { "mem", "mem/a", "mem/a/b", "mem/b",
					       "uni", "uni/s", "uni/s/t", "uni/s/t/u" };

	if (place_make(state))
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		folder(*state, folders[i]);
	return 0;
}

static void assert_parent(const struct place *p, const char *path, bool is_v2)
{
	struct cgroup found;
	char whole[256], why[5000];

	snprintf(whole, sizeof(whole), "%s/%s", p->dir, path);
	assert_int_equal(cgroup_find_parent(p->dir, &found, why, sizeof(why)), 0);
	assert_string_equal(found.path, whole);
	assert_int_equal(found.is_v2, is_v2);
}

static void assert_none(const struct place *p, const char *part_of_why)
{
	struct cgroup found;
	char why[5000] = "";

	assert_int_equal(cgroup_find_parent(p->dir, &found, why, sizeof(why)), -ENOENT);
	if (!strstr(why, part_of_why))
		fail_msg("'%s' is not in '%s'", part_of_why, why);
}

static void parent_in_version_1_is_our_own_cgroup(void **state)
{
	process(*state, "9:name=systemd:/x\n4:cpu,memory:/a/b\n0::/s\n", V1_MOUNT);
	assert_parent(*state, "mem/a/b", false);
}

static void the_parent_of_a_process_at_the_root_is_the_root(void **state)
{
	process(*state, "4:cpu,memory:/\n", V1_MOUNT);
	assert_parent(*state, "mem", false);
}

static void mount_of_a_part_shows_what_is_below_it(void **state)
{
	process(*state, "4:cpu,memory:/a/b\n",
		"35 31 0:32 /a %s/mem rw - cgroup cgroup rw,cpu,memory\n");
	assert_parent(*state, "mem/b", false);
}

static void mount_of_another_part_is_of_no_use(void **state)
{
	process(*state, "4:cpu,memory:/ab\n",
		"35 31 0:32 /a %s/mem rw - cgroup cgroup rw,cpu,memory\n");
	assert_none(*state, "not mounted");
}

static void cgroup_outside_of_our_namespace_cannot_be_reached(void **state)
{
	process(*state, "4:cpu,memory:/../a\n", V1_MOUNT);
	assert_none(*state, "not mounted");
}

static void other_hierarchies_are_passed_over(void **state)
{
	process(*state, "4:cpu,memory:/a\n",
		"35 31 0:32 / %s/mem rw - cgroup cgroup rw,memory_like,cpu\n");
	assert_none(*state, "not mounted");
}

static void blanks_in_a_mount_point_are_understood(void **state)
{
	folder(*state, "my mem");
	process(*state, "4:memory:/\n",
		"35 31 0:32 / %s/my\\040mem rw - cgroup cgroup rw,memory\n");
	assert_parent(*state, "my mem", false);
}

static void parent_in_version_2_is_the_nearest_that_hands_memory_on(void **state)
{
	process(*state, "0::/s/t/u\n", V2_MOUNT);
	place_put(*state, "uni/cgroup.subtree_control", "cpu memory\n");
	place_put(*state, "uni/s/cgroup.subtree_control", "cpuset cpu memory pids\n");
	place_put(*state, "uni/s/t/cgroup.subtree_control", "cpu pids\n");
	place_put(*state, "uni/s/t/u/cgroup.subtree_control", "\n");
	assert_parent(*state, "uni/s", true);
}

static void our_own_cgroup_in_version_2_may_hand_memory_on(void **state)
{
	process(*state, "0::/s\n", V2_MOUNT);
	place_put(*state, "uni/s/cgroup.subtree_control", "memory\n");
	assert_parent(*state, "uni/s", true);
}

static void root_of_version_2_may_hand_memory_on(void **state)
{
	process(*state, "1:name=systemd:/s\n0::/s/t\n", V2_MOUNT);
	place_put(*state, "uni/cgroup.subtree_control", "memory\n");
	assert_parent(*state, "uni", true);
}

static void version_2_without_the_controller_is_of_no_use(void **state)
{
	process(*state, "0::/s/t\n", V2_MOUNT);
	place_put(*state, "uni/cgroup.subtree_control", "cpu memory_like\n");
	assert_none(*state, "cgroup.subtree_control");
}

static void version_1_is_taken_where_it_has_the_controller(void **state)
{
	process(*state, "0::/s\n4:memory:/a\n", V1_MOUNT);
	place_put(*state, "uni/s/cgroup.subtree_control", "memory\n");
	assert_parent(*state, "mem/a", false);
}

static void without_cgroups_there_is_no_place(void **state)
{
	process(*state, "", "22 1 8:1 / / rw - ext4 %s rw\n");
	assert_none(*state, "not mounted");
}

static void one_is_made_and_removed(void **state)
{
	struct place *p = *state;
	struct cgroup cg;
	char path[256], why[5000];
	struct stat st;

	process(p, "4:cpu,memory:/a/b\n", V1_MOUNT);
	assert_int_equal(cgroup_make(p->dir, &cg, why, sizeof(why)), 0);
	snprintf(path, sizeof(path), "%s/mem/a/b/bpfmon-%d", p->dir, getpid());
	assert_string_equal(cg.path, path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(cgroup_remove(&cg), 0);
	assert_int_equal(stat(path, &st), -1);
}

static void name_that_is_taken_is_left_to_its_owner(void **state)
{
	struct place *p = *state;
	struct cgroup first, second;
	char why[5000];

	process(p, "4:cpu,memory:/a\n", V1_MOUNT);
	assert_int_equal(cgroup_make(p->dir, &first, why, sizeof(why)), 0);
	assert_int_equal(cgroup_make(p->dir, &second, why, sizeof(why)), 0);
	assert_string_not_equal(first.path, second.path);
	assert_int_equal(cgroup_remove(&second), 0);
	assert_int_equal(cgroup_remove(&first), 0);
}

static void why_none_can_be_made_names_the_place(void **state)
{
	struct place *p = *state;
	struct cgroup cg;
	char why[5000] = "";

	process(p, "4:cpu,memory:/none\n", V1_MOUNT);
	assert_int_equal(cgroup_make(p->dir, &cg, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, "/mem/none': No such file"));
}

static void a_process_joins_by_writing_its_own_pid(void **state)
{
	struct place *p = *state;
	struct cgroup cg = { .is_v2 = true };
	char path[256], *text;

	place_put(p, "mem/cgroup.procs", "");
	snprintf(cg.path, sizeof(cg.path), "%s/mem", p->dir);
	assert_int_equal(cgroup_join(&cg), 0);
	snprintf(path, sizeof(path), "%s/mem/cgroup.procs", p->dir);
	text = file_read(path);
	assert_string_equal(text, "0");
	free(text);
}

static void one_that_is_gone_cannot_be_joined(void **state)
{
	struct cgroup cg;

	(void)state;
	strcpy(cg.path, "/nonexistent/bpfmon-1");
	assert_int_equal(cgroup_join(&cg), -ENOENT);
}

static void one_that_is_gone_is_removed_already(void **state)
{
	struct cgroup cg;

	(void)state;
	strcpy(cg.path, "/nonexistent/bpfmon-1");
	assert_int_equal(cgroup_remove(&cg), 0);
}

static void one_that_is_in_use_is_not_removed(void **state)
{
	struct place *p = *state;
	struct cgroup cg;

	snprintf(cg.path, sizeof(cg.path), "%s/uni/s", p->dir); /* a plain folder says ENOTEMPTY */
	assert_int_equal(cgroup_remove(&cg), -ENOTEMPTY);
}

/* What stands behind the end of the path is of the line before. */
static void a_backslash_without_three_digits_is_one(void **state)
{
	static char lines[] = "1 0 0:1 /aaaaaaaaaaaa /bbbbbbbbbbbb rw - cgroup2 none rw\n"
			      "2 0 0:2 /x\\4 /y\\04\\1401 rw - cgroup2 none rw\n";
	FILE *f = fmemopen(lines, strlen(lines), "r");
	struct cgroup_mount m;

	(void)state;
	assert_non_null(f);
	assert_true(cgroup_mount_next(f, &m));
	assert_true(cgroup_mount_next(f, &m));
	assert_string_equal(m.root, "/x\\4");
	assert_string_equal(m.point, "/y\\04`1");
	fclose(f);
}

#define TREE_TEST(test) cmocka_unit_test_setup_teardown(test, tree_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(parent_in_version_1_is_our_own_cgroup),
		TREE_TEST(the_parent_of_a_process_at_the_root_is_the_root),
		TREE_TEST(mount_of_a_part_shows_what_is_below_it),
		TREE_TEST(mount_of_another_part_is_of_no_use),
		TREE_TEST(cgroup_outside_of_our_namespace_cannot_be_reached),
		TREE_TEST(other_hierarchies_are_passed_over),
		TREE_TEST(blanks_in_a_mount_point_are_understood),
		cmocka_unit_test(a_backslash_without_three_digits_is_one),
		TREE_TEST(parent_in_version_2_is_the_nearest_that_hands_memory_on),
		TREE_TEST(our_own_cgroup_in_version_2_may_hand_memory_on),
		TREE_TEST(root_of_version_2_may_hand_memory_on),
		TREE_TEST(version_2_without_the_controller_is_of_no_use),
		TREE_TEST(version_1_is_taken_where_it_has_the_controller),
		TREE_TEST(without_cgroups_there_is_no_place),
		TREE_TEST(one_is_made_and_removed),
		TREE_TEST(name_that_is_taken_is_left_to_its_owner),
		TREE_TEST(why_none_can_be_made_names_the_place),
		TREE_TEST(a_process_joins_by_writing_its_own_pid),
		TREE_TEST(one_that_is_in_use_is_not_removed),
		cmocka_unit_test(one_that_is_gone_cannot_be_joined),
		cmocka_unit_test(one_that_is_gone_is_removed_already),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
