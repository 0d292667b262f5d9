// SPDX-License-Identifier: BSD-2-Clause
/* What a process may use, on cgroups and a /proc of plain files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/meta_cgroup.h"
#include "meta_fixture.h"

#define NONE_V1 "9223372036854771712\n"

/* Hierarchies of memory and of CPU where @v1 is not NULL, the unified one where @v2 names it. */
static void mounts(const struct place *p, const char *v1, const char *v2)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "35 31 0:32 / %s/cg/memory rw - cgroup cgroup rw,memory\n"
		 "36 31 0:33 / %s/cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
		 p->dir, p->dir);
	if (!v1)
		text[0] = '\0';
	if (v2)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "41 31 0:38 / %s/%s rw - cgroup2 cgroup2 rw\n", p->dir, v2);
	tree_put(p, "proc/mountinfo", text);
}

/* Until the next call. */
static const struct limits *limits_of(const struct place *p, const struct cgroup *own)
{
	static struct limits l;

	memset(&l, 0, sizeof(l));
	limits_of_process(tree_path(p, "proc"), tree_path(p, "proc"), own, &l);
	return &l;
}

static void assert_limit(const struct limits *l, enum limit_id id, uint64_t value)
{
	assert_true(limit_has(l, id));
	assert_int_equal(l->value[id], value);
}

static void of_all_levels_the_smallest_counts(void **state)
{
	const struct limits *l;

	mounts(*state, NULL, "cg");
	tree_put(*state, "proc/cgroup", "0::/a/b\n");
	tree_put(*state, "cg/a/memory.max", "1000\n");
	tree_put(*state, "cg/a/b/memory.max", "max\n");
	tree_put(*state, "cg/a/memory.high", "900\n");
	tree_put(*state, "cg/a/b/memory.high", "800\n");
	tree_put(*state, "cg/a/pids.max", "50\n");
	tree_put(*state, "cg/a/b/pids.max", "60\n");
	tree_put(*state, "cg/a/cpu.max", "150000 100000\n");
	tree_put(*state, "cg/a/b/cpu.max", "max 100000\n");
	tree_put(*state, "cg/a/b/memory.swap.max", "0\n");
	l = limits_of(*state, NULL);
	assert_limit(l, LIMIT_MEMORY_MAX, 1000);
	assert_limit(l, LIMIT_MEMORY_HIGH, 800);
	assert_limit(l, LIMIT_PIDS_MAX, 50);
	assert_limit(l, LIMIT_CPU_MAX, 1500);
	assert_limit(l, LIMIT_SWAP_MAX, 0);
	assert_string_equal(l->cgroup, "/a/b");
}

static void nothing_is_searched_above_the_mount_point(void **state)
{
	const struct limits *l;

	mounts(*state, NULL, "cg");
	tree_put(*state, "proc/cgroup", "0::/a\n");
	tree_put(*state, "memory.max", "1\n");
	tree_put(*state, "cg/memory.max", "2000\n");
	tree_put(*state, "cg/a/memory.max", "max\n");
	l = limits_of(*state, NULL);
	assert_limit(l, LIMIT_MEMORY_MAX, 2000);
}

static void version_1_has_a_path_for_each_controller(void **state)
{
	const struct limits *l;

	mounts(*state, "v1", NULL);
	tree_put(*state, "proc/cgroup", "4:memory:/m\n3:cpu,cpuacct:/c/d\n");
	tree_put(*state, "cg/memory/m/memory.limit_in_bytes", "4096\n");
	tree_put(*state, "cg/memory/m/memory.memsw.limit_in_bytes", NONE_V1);
	tree_put(*state, "cg/memory/memory.limit_in_bytes", NONE_V1);
	tree_put(*state, "cg/cpu/c/cpu.cfs_quota_us", "50000\n");
	tree_put(*state, "cg/cpu/c/cpu.cfs_period_us", "100000\n");
	tree_put(*state, "cg/cpu/c/d/cpu.cfs_quota_us", "-1\n");
	tree_put(*state, "cg/cpu/c/d/cpu.cfs_period_us", "100000\n");
	l = limits_of(*state, NULL);
	assert_limit(l, LIMIT_MEMORY_MAX, 4096);
	assert_limit(l, LIMIT_CPU_MAX, 500);
	assert_false(limit_has(l, LIMIT_MEMORY_SWAP_MAX));
	assert_false(limit_has(l, LIMIT_PIDS_MAX));
	assert_string_equal(l->cgroup, "/m");
}

static void where_both_are_each_controller_is_in_one(void **state)
{
	const struct limits *l;

	mounts(*state, "v1", "uni");
	tree_put(*state, "proc/cgroup", "4:memory:/m\n0::/u\n");
	tree_put(*state, "cg/memory/m/memory.limit_in_bytes", "8192\n");
	tree_put(*state, "uni/u/memory.max", "1\n");
	tree_put(*state, "uni/u/pids.max", "7\n");
	l = limits_of(*state, NULL);
	assert_limit(l, LIMIT_MEMORY_MAX, 8192);
	assert_limit(l, LIMIT_PIDS_MAX, 7);
}

static void a_cgroup_of_its_own_takes_the_place(void **state)
{
	const struct place *p = *state;
	struct cgroup own = { .is_v2 = true };
	const struct limits *l;

	mounts(p, NULL, "cg");
	tree_put(p, "proc/cgroup", "0::/a/b\n");
	tree_put(p, "cg/a/b/memory.max", "1\n");
	tree_put(p, "cg/a/memory.max", "4096\n");
	tree_put(p, "cg/a/bpfmon-1/memory.max", "max\n");
	snprintf(own.path, sizeof(own.path), "%s/cg/a/bpfmon-1", p->dir);
	l = limits_of(p, &own);
	assert_limit(l, LIMIT_MEMORY_MAX, 4096);
}

static void a_cgroup_that_is_named_is_looked_at_itself(void **state)
{
	const struct place *p = *state;
	struct cgroup_target t = { .cg.is_v2 = true };
	struct limits l = { 0 };

	tree_put(p, "cg/a/b/memory.max", "max\n");
	tree_put(p, "cg/a/memory.max", "512\n");
	tree_put(p, "cg/a/b/cpuset.cpus.effective", "2-3,5\n");
	snprintf(t.cg.path, sizeof(t.cg.path), "%s/cg/a/b", p->dir);
	t.mount_bytes = strlen(p->dir) + strlen("/cg");
	limits_of_cgroup(tree_path(p, "proc"), &t, &l);
	assert_limit(&l, LIMIT_MEMORY_MAX, 512);
	assert_string_equal(l.cpus_allowed, "2-3,5");
}

static uint64_t request_of(const struct place *p, const char *cgroup, bool is_v2)
{
	static struct cgroup cg; /* large */

	cg.is_v2 = is_v2;
	snprintf(cg.path, sizeof(cg.path), "%s%s", tree_path(p, "cg"), cgroup);
	return cpu_request_of_folder(&cg, strlen(tree_path(p, "cg")));
}

/* MilliCPUToShares() of the kubelet gives 102 shares to 100m, and 2 where nothing is requested. */
static void a_request_of_version_1_is_what_the_kubelet_made_shares_of(void **state)
{
	const struct place *p = *state;

	tree_put(p, "cg/kubepods/podA/cpu.shares", "102\n");
	tree_put(p, "cg/kubepods/podA/c/cpu.shares", "1536\n");
	tree_put(p, "cg/kubepods/podB/cpu.shares", "2\n");
	assert_int_equal(request_of(p, "/kubepods/podA", false), 100);
	assert_int_equal(request_of(p, "/kubepods/podA/c", false), 1500);
	assert_int_equal(request_of(p, "/kubepods/podB", false), 0);
	assert_int_equal(request_of(p, "/kubepods/none", false), 0);
}

/* 1 + (shares - 2) * 9999 / 262142: 39 is the weight of a core. */
static void a_request_of_version_2_is_known_if_the_weight_is_the_kubelets(void **state)
{
	const struct place *p = *state;
	uint64_t request;

	tree_put(p, "cg/kubepods.slice/cpu.weight", "20\n");
	tree_put(p, "cg/kubepods.slice/kubepods-podA.slice/cpu.weight", "39\n");
	tree_put(p, "cg/kubepods.slice/kubepods-podB.slice/cpu.weight", "1\n");
	request = request_of(p, "/kubepods.slice/kubepods-podA.slice", true);
	assert_in_range(request, 1000 - 26, 1000);
	assert_int_equal(request_of(p, "/kubepods.slice/kubepods-podB.slice", true), 0);
	/* more than this machine has: the formula is another */
	tree_put(p, "cg/kubepods.slice/cpu.weight", "10000\n");
	assert_int_equal(request_of(p, "/kubepods.slice/kubepods-podA.slice", true), 0);
	assert_int_equal(request_of(p, "/other.slice", true), 0);
}

static void soft_limits_are_those_of_the_process(void **state)
{
	const struct limits *l;

	tree_put(
		*state, "proc/limits",
		"Limit                     Soft Limit           Hard Limit           Units     \n"
		"Max cpu time              unlimited            unlimited            seconds   \n"
		"Max core file size        0                    unlimited            bytes     \n"
		"Max open files            1024                 524288               files     \n"
		"Max address space         unlimited            unlimited            bytes     \n");
	l = limits_of(*state, NULL);
	assert_limit(l, LIMIT_CORE, 0);
	assert_limit(l, LIMIT_NOFILE, 1024);
	assert_false(limit_has(l, LIMIT_AS));
	assert_false(limit_has(l, LIMIT_CPU_TIME));
}

static void the_cpus_are_those_of_the_affinity(void **state)
{
	const struct limits *l;

	tree_put(
		*state, "proc/status",
		"Name:\tsh\nCpus_allowed:\t1f\nCpus_allowed_list:\t0-3,8\nMems_allowed_list:\t0\n");
	l = limits_of(*state, NULL);
	assert_string_equal(l->cpus_allowed, "0-3,8");
	assert_string_equal(l->mems_allowed, "0");
	assert_int_equal(list_count(l->cpus_allowed), 5);
}

static void a_list_that_is_none_counts_nothing(void **state)
{
	(void)state;
	assert_int_equal(list_count("7"), 1);
	assert_int_equal(list_count(""), 0);
	assert_int_equal(list_count("3-1"), 0);
	assert_int_equal(list_count("0-3;x"), 0);
	assert_int_equal(list_count("max"), 0);
}

static void missing_files_give_no_values(void **state)
{
	const struct limits *l = limits_of(*state, NULL);

	assert_int_equal(l->have, 0);
	assert_string_equal(l->cpus_allowed, "");
	assert_string_equal(l->cgroup, "");
}

static void odd_files_give_no_values(void **state)
{
	const struct limits *l;

	mounts(*state, NULL, "cg");
	tree_put(*state, "proc/cgroup", "0::/a\n");
	tree_put(*state, "cg/a/memory.max", "\n");
	tree_put(*state, "cg/a/pids.max", "-1\n");
	tree_put(*state, "cg/a/cpu.max", "100000\n");
	tree_put(*state, "cg/a/memory.high", "99999999999999999999999\n");
	l = limits_of(*state, NULL);
	assert_int_equal(l->have, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(of_all_levels_the_smallest_counts),
		PLACE_TEST(nothing_is_searched_above_the_mount_point),
		PLACE_TEST(version_1_has_a_path_for_each_controller),
		PLACE_TEST(where_both_are_each_controller_is_in_one),
		PLACE_TEST(a_cgroup_of_its_own_takes_the_place),
		PLACE_TEST(a_cgroup_that_is_named_is_looked_at_itself),
		PLACE_TEST(a_request_of_version_1_is_what_the_kubelet_made_shares_of),
		PLACE_TEST(a_request_of_version_2_is_known_if_the_weight_is_the_kubelets),
		PLACE_TEST(soft_limits_are_those_of_the_process),
		PLACE_TEST(the_cpus_are_those_of_the_affinity),
		cmocka_unit_test(a_list_that_is_none_counts_nothing),
		PLACE_TEST(missing_files_give_no_values),
		PLACE_TEST(odd_files_give_no_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
