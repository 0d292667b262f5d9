// SPDX-License-Identifier: BSD-2-Clause
/* Finding the cgroup that a user names, on trees of plain folders: %s is where the tree is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cgroup.h"
#include "fixture.h"

#include <errno.h>

#define MEMORY "35 31 0:32 %2$s %1$s/mem rw,relatime shared:3 - cgroup cgroup rw,memory\n"
#define CPU "36 31 0:33 %2$s %1$s/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
#define NAMED "37 31 0:34 %2$s %1$s/named rw,relatime - cgroup cgroup rw,name=systemd\n"
#define UNIFIED "41 31 0:38 %2$s %1$s/uni rw,relatime - cgroup2 cgroup2 rw\n"

static void group(const struct place *p, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", p->dir, name);
	file_write(path, "");
}

static int tree_make(void **state)
{
	static const char *const groups[] = { "mem",   "mem/job", "mem/job/step", "cpu",
					      "named", "cpu/job", "cpu/only",     "named/job",
					      "uni",   "uni/s",   "uni/s/job" };

	if (place_make(state))
		return -1;
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		group(*state, groups[i]);
	place_put(*state, "cgroup", "9:name=systemd:/\n4:memory:/x\n3:cpu,cpuacct:/\n0::/y\n");
	return 0;
}

/* Mounts that show what is below @root. */
static void mounts(const struct place *p, const char *format, const char *root)
{
	char text[2048];

	snprintf(text, sizeof(text), format, p->dir, root);
	place_put(p, "mountinfo", text);
}

#define ALL NAMED CPU MEMORY UNIFIED

/* @name begins with / where it is below the place's folder. */
static int find(const struct place *p, const char *name, struct cgroup_target *t, char why[8192])
{
	char path[300];

	snprintf(path, sizeof(path), "%s%s", *name == '/' ? p->dir : "", name);
	memset(t, 0, sizeof(*t));
	return cgroup_target_find(p->dir, path, t, why, 8192);
}

static void assert_found(const struct place *p, const char *name, const char *path,
			 const char *in_kernel)
{
	struct cgroup_target t;
	char why[8192] = "", whole[300];

	assert_int_equal(find(p, name, &t, why), 0);
	snprintf(whole, sizeof(whole), "%s/%s", p->dir, path);
	assert_string_equal(t.cg.path, whole);
	assert_string_equal(t.in_kernel, in_kernel);
	assert_int_equal(t.id, cgroup_target_id(&t));
	assert_int_not_equal(t.id, 0);
}

static void assert_not_found(const struct place *p, const char *name, int err, const char *part)
{
	struct cgroup_target t;
	char why[8192] = "";

	assert_int_equal(find(p, name, &t, why), err);
	if (!strstr(why, part))
		fail_msg("'%s' is not in '%s'", part, why);
}

static void folder_is_found_in_its_hierarchy(void **state)
{
	struct cgroup_target t;
	char why[8192];

	mounts(*state, ALL, "/");
	assert_found(*state, "/mem/job/step", "mem/job/step", "/job/step");
	assert_found(*state, "/uni/s/job/", "uni/s/job", "/s/job");
	assert_int_equal(find(*state, "/mem/job", &t, why), 0);
	assert_false(t.cg.is_v2);
	assert_string_equal(t.controller, "memory");
	assert_int_equal(t.hierarchy, 4);
	assert_int_equal(find(*state, "/uni/s/job", &t, why), 0);
	assert_true(t.cg.is_v2);
	assert_string_equal(t.controller, "");
	assert_int_equal(t.hierarchy, 0);
}

static void path_below_the_mount_is_found_in_the_unified_hierarchy_first(void **state)
{
	mounts(*state, ALL, "/");
	assert_found(*state, "s/job", "uni/s/job", "/s/job");
	assert_found(*state, "job", "mem/job", "/job");    /* then in that of memory */
	assert_found(*state, "only", "cpu/only", "/only"); /* then in any other */
}

static void root_is_a_cgroup_too(void **state)
{
	struct cgroup_target t;
	char why[8192];

	mounts(*state, ALL, "/");
	assert_found(*state, "/mem", "mem", "/");
	assert_int_equal(find(*state, "/mem", &t, why), 0);
	assert_int_equal(cgroup_target_depth(&t), 1);
	assert_int_equal(find(*state, "/mem/job/step", &t, why), 0);
	assert_int_equal(cgroup_target_depth(&t), 3);
}

static void mount_of_a_part_lies_below_its_root(void **state)
{
	mounts(*state, MEMORY, "/docker/abc");
	assert_found(*state, "/mem/job", "mem/job", "/docker/abc/job");
	assert_found(*state, "/mem", "mem", "/docker/abc");
}

static void what_our_namespace_hides_is_not_known(void **state)
{
	struct cgroup_target t;
	char why[8192];

	mounts(*state, UNIFIED, "/../..");
	assert_found(*state, "/uni/s", "uni/s", "");
	assert_int_equal(find(*state, "/uni/s", &t, why), 0);
	assert_int_equal(cgroup_target_depth(&t), 0);
}

static void the_error_for_an_unknown_cgroup_names_the_hierarchies(void **state)
{
	mounts(*state, ALL, "/");
	assert_not_found(*state, "/mem/none", -ENOENT, "/mem, ");
	assert_not_found(*state, "none", -ENOENT, "no cgroup 'none'; cgroup v1 is at ");
	assert_not_found(*state, "", -ENOENT, "no cgroup ''");
	mounts(*state, UNIFIED, "/");
	assert_not_found(*state, "/mem/job", -ENOENT, "is not a cgroup directory; cgroups are v2");
	place_put(*state, "mountinfo", "");
	assert_not_found(*state, "job", -ENOENT, "not mounted here");
}

static void hierarchy_without_a_controller_is_of_no_use(void **state)
{
	mounts(*state, ALL, "/");
	assert_not_found(*state, "/named/job", -EINVAL, "without a controller");
}

static void twin_is_the_same_path_of_another_controller(void **state)
{
	const struct place *p = *state;
	struct cgroup_target t;
	char why[8192], whole[300];
	static char path[4096];

	mounts(p, ALL, "/");
	assert_int_equal(find(p, "/mem/job", &t, why), 0);
	assert_int_equal(cgroup_target_find_twin(p->dir, &t, "cpuacct", path), 0);
	snprintf(whole, sizeof(whole), "%s/cpu/job", p->dir);
	assert_string_equal(path, whole);
	assert_int_equal(cgroup_target_find_twin(p->dir, &t, "memory", path), 0);
	assert_string_equal(path, t.cg.path);
	assert_int_equal(cgroup_target_find_twin(p->dir, &t, "pids", path), -ENOENT);
	assert_int_equal(find(p, "/mem/job/step", &t, why), 0);
	assert_int_equal(cgroup_target_find_twin(p->dir, &t, "cpuacct", path), -ENOENT);
	assert_int_equal(find(p, "/uni/s/job", &t, why), 0);
	assert_int_equal(cgroup_target_find_twin(p->dir, &t, "cpuacct", path), 0);
	assert_string_equal(path, t.cg.path);
}

static void a_process_in_a_cgroup_below_counts(void **state)
{
	struct cgroup_target t;
	char why[8192];

	mounts(*state, ALL, "/");
	assert_int_equal(find(*state, "/mem/job", &t, why), 0);
	place_put(*state, "mem/job/tasks", "");
	place_put(*state, "mem/job/step/tasks", "");
	assert_false(cgroup_target_is_populated(&t));
	place_put(*state, "mem/job/step/tasks", "17\n");
	assert_true(cgroup_target_is_populated(&t));
	assert_int_equal(find(*state, "/uni/s", &t, why), 0);
	assert_true(cgroup_target_is_populated(&t)); /* a root has no such file */
	place_put(*state, "uni/s/cgroup.events", "populated 0\nfrozen 0\n");
	assert_false(cgroup_target_is_populated(&t));
	place_put(*state, "uni/s/cgroup.events", "populated 1\nfrozen 0\n");
	assert_true(cgroup_target_is_populated(&t));
}

#define TREE_TEST(test) cmocka_unit_test_setup_teardown(test, tree_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(folder_is_found_in_its_hierarchy),
		TREE_TEST(path_below_the_mount_is_found_in_the_unified_hierarchy_first),
		TREE_TEST(root_is_a_cgroup_too),
		TREE_TEST(mount_of_a_part_lies_below_its_root),
		TREE_TEST(what_our_namespace_hides_is_not_known),
		TREE_TEST(the_error_for_an_unknown_cgroup_names_the_hierarchies),
		TREE_TEST(hierarchy_without_a_controller_is_of_no_use),
		TREE_TEST(twin_is_the_same_path_of_another_controller),
		TREE_TEST(a_process_in_a_cgroup_below_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
