// SPDX-License-Identifier: BSD-2-Clause
/* The cgroup that is a container's own, on a /proc of plain folders. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bpfmon/roles/container.h"
#include "fixture.h"

#include <errno.h>

#define ID "4f1c2a"
#define MEMORY "35 31 0:32 / /cg/mem rw - cgroup cgroup rw,memory\n"
#define UNIFIED "41 31 0:38 / /cg/uni rw - cgroup2 cgroup2 rw\n"

/* /proc/self and /proc/7, the container's first process. */
static int proc_make(void **state)
{
	char path[256];

	if (place_make(state))
		return -1;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", ((struct place *)*state)->dir,
			 i ? "7" : "self");
		if (mkdir(path, 0755))
			return -1;
	}
	place_put(*state, "self/mountinfo", MEMORY UNIFIED);
	return 0;
}

static int folder_find(const struct place *p, const char *cgroup, const char *id, char folder[4096])
{
	struct container c = { .engine = "podman", .pid = 7 };

	snprintf(c.id, sizeof(c.id), "%s", id);
	place_put(p, "7/cgroup", cgroup);
	return container_find_cgroup(p->dir, &c, folder);
}

static void assert_folder(const struct place *p, const char *cgroup, const char *expected)
{
	char folder[4096] = "";

	assert_int_equal(folder_find(p, cgroup, ID, folder), 0);
	assert_string_equal(folder, expected);
}

static void assert_none(const struct place *p, const char *cgroup)
{
	char folder[4096];

	assert_int_equal(folder_find(p, cgroup, ID, folder), -ENOENT);
}

static void cgroup_is_found_by_the_id_in_its_name(void **state)
{
	assert_folder(*state, "0::/machine.slice/libpod-" ID ".scope\n",
		      "/cg/uni/machine.slice/libpod-" ID ".scope");
	assert_folder(*state, "0::/docker/" ID "\n", "/cg/uni/docker/" ID);
	assert_folder(*state, "0::/k/cri-containerd:" ID "\n", "/cg/uni/k/cri-containerd:" ID);
}

static void what_the_container_made_below_is_left_off(void **state)
{
	assert_folder(*state, "0::/libpod-" ID "/init.scope\n", "/cg/uni/libpod-" ID);
}

static void version_1_with_memory_comes_first(void **state)
{
	assert_folder(*state, "4:memory:/p/libpod-" ID "\n0::/q/libpod-" ID "\n",
		      "/cg/mem/p/libpod-" ID);
	assert_folder(*state, "4:memory:/\n0::/q/libpod-" ID "\n", "/cg/uni/q/libpod-" ID);
}

static void id_within_a_longer_word_does_not_match(void **state)
{
	assert_none(*state, "4:memory:/libpod-conmon-" ID "ff\n0::/x" ID "\n");
	assert_none(*state, "0::/user.slice/session-4.scope\n");
}

static void cgroup_that_is_not_mounted_here_is_not_found(void **state)
{
	assert_none(*state, "5:pids:/libpod-" ID "\n0::/\n");
	assert_none(*state, "0::/../libpod-" ID "\n");
}

static void ended_process_has_no_cgroup(void **state)
{
	struct container c = { .engine = "runc", .id = ID, .pid = 8 };
	char folder[4096];

	assert_int_equal(container_find_cgroup(((struct place *)*state)->dir, &c, folder), -ENOENT);
}

#define PROC_TEST(test) cmocka_unit_test_setup_teardown(test, proc_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROC_TEST(cgroup_is_found_by_the_id_in_its_name),
		PROC_TEST(what_the_container_made_below_is_left_off),
		PROC_TEST(version_1_with_memory_comes_first),
		PROC_TEST(id_within_a_longer_word_does_not_match),
		PROC_TEST(cgroup_that_is_not_mounted_here_is_not_found),
		PROC_TEST(ended_process_has_no_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
