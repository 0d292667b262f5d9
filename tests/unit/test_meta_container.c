// SPDX-License-Identifier: BSD-2-Clause
/* Which container we are in, by names of cgroups, files and variables. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/meta_cgroup.h"
#include "meta_fixture.h"

#include <unistd.h>

#define ID "4f1c2a4f1c2a4f1c2a4f1c2a4f1c2a4f1c2a4f1c2a4f1c2a4f1c2a4f1c2a4f1c"

/* Nothing of where the tests themselves run. */
static int clean(void **state)
{
	unsetenv("APPTAINER_CONTAINER");
	unsetenv("SINGULARITY_CONTAINER");
	unsetenv("KUBERNETES_SERVICE_HOST");
	unsetenv("container");
	return place_make(state);
}

static void assert_cgroup(const char *path, const char *engine, const char *id)
{
	struct container_info c = { 0 };

	assert_true(container_of_cgroup(path, &c));
	assert_string_equal(c.engine, engine);
	assert_string_equal(c.id, id);
}

static void assert_no_container(const char *path)
{
	struct container_info c = { 0 };

	assert_false(container_of_cgroup(path, &c));
	assert_string_equal(c.id, "");
}

static struct container_info ours(const struct place *p)
{
	struct container_info c = { 0 };

	container_of_self(p->dir, tree_path(p, "proc/self"), &c);
	return c;
}

static void engines_have_their_names_for_cgroups(void **state)
{
	(void)state;
	assert_cgroup("/system.slice/docker-" ID ".scope", "docker", ID);
	assert_cgroup("/docker/" ID, "docker", ID);
	assert_cgroup("/machine.slice/libpod-" ID ".scope/container", "podman", ID);
	assert_cgroup("/k/cri-containerd-" ID ".scope", "containerd", ID);
	assert_cgroup("/k/crio-" ID ".scope", "cri-o", ID);
}

static void names_are_kept_where_there_is_no_id(void **state)
{
	struct container_info c = { 0 };

	(void)state;
	assert_true(container_of_cgroup("/lxc.payload.web/init.scope", &c));
	assert_string_equal(c.engine, "lxc");
	assert_string_equal(c.name, "web");
}

static void a_pod_has_its_uid(void **state)
{
	struct container_info c = { 0 };

	(void)state;
	assert_true(container_of_cgroup("/kubepods/burstable/podab12-34/" ID, &c));
	assert_string_equal(c.engine, "kubernetes");
	assert_string_equal(c.id, ID);
	assert_string_equal(c.pod, "ab12-34");
	c = (struct container_info){ 0 };
	assert_true(container_of_cgroup("/kubepods.slice/kubepods-burstable.slice/"
					"kubepods-burstable-podab12_34.slice/crio-" ID ".scope",
					&c));
	assert_string_equal(c.engine, "cri-o");
	assert_string_equal(c.pod, "ab12-34");
}

static void a_container_in_a_container_is_the_outer_one_s(void **state)
{
	(void)state;
	assert_cgroup("/docker/" ID "/docker/aaaaaaaaaaaaaaaa", "docker", ID);
}

static void an_ordinary_process_is_in_no_container(void **state)
{
	(void)state;
	assert_no_container("/");
	assert_no_container("");
	assert_no_container("/user.slice/user-1000.slice/session-1.scope");
	assert_no_container("/system.slice/docker.service");
	assert_no_container("/machine.slice/libpod-conmon-" ID ".scope");
	assert_no_container("/slurm/uid_1000/job_77/step_0");
	assert_no_container("/docker/");
}

static void all_hierarchies_are_looked_at(void **state)
{
	struct container_info c = { 0 };

	tree_put(*state, "proc/self/cgroup", "4:memory:/\n3:pids:/docker/" ID "\n0::/\n");
	container_of_process(tree_path(*state, "proc/self"), &c);
	assert_string_equal(c.id, ID);
}

static void podman_and_its_names_are_read_from_its_file(void **state)
{
	struct container_info c;

	tree_put(*state, "run/.containerenv",
		 "engine=\"podman-4.3.1\"\nname=\"web\"\nid=\"" ID "\"\nimage=\"docker.io/x:1\"\n");
	c = ours(*state);
	assert_string_equal(c.engine, "podman");
	assert_string_equal(c.name, "web");
	assert_string_equal(c.id, ID);
	assert_string_equal(c.image, "docker.io/x:1");
}

static void pid_namespace_is(const struct place *p, const char *name)
{
	tree_put(p, "proc/self/ns/others", "");
	unlink(tree_path(p, "proc/self/ns/pid"));
	assert_int_equal(symlink(name, tree_path(p, "proc/self/ns/pid")), 0);
}

static void files_of_engines_identify_the_container(void **state)
{
	tree_put(*state, "run/systemd/container", "systemd-nspawn\n");
	assert_string_equal(ours(*state).engine, "systemd-nspawn");
	tree_put(*state, ".dockerenv", "");
	assert_string_equal(ours(*state).engine, "systemd-nspawn");
	pid_namespace_is(*state, "pid:[4026531836]"); /* that of the machine */
	assert_string_equal(ours(*state).engine, "systemd-nspawn");
	pid_namespace_is(*state, "pid:[4026532210]");
	assert_string_equal(ours(*state).engine, "docker");
	tree_put(*state, "run/.containerenv", "");
	assert_string_equal(ours(*state).engine, "podman");
}

static void variables_of_engines_identify_the_container(void **state)
{
	setenv("container", "lxc", 1);
	assert_string_equal(ours(*state).engine, "lxc");
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	assert_string_equal(ours(*state).engine, "kubernetes");
	setenv("APPTAINER_CONTAINER", "/images/align.sif", 1);
	assert_string_equal(ours(*state).engine, "apptainer");
	assert_string_equal(ours(*state).image, "/images/align.sif");
}

static void a_variable_with_another_meaning_is_not_recorded(void **state)
{
	setenv("container", "hunter2", 1);
	assert_string_equal(ours(*state).engine, "");
}

static void outside_of_containers_there_is_none(void **state)
{
	tree_put(*state, "proc/self/cgroup", "0::/user.slice\n");
	assert_string_equal(ours(*state).engine, "");
}

#define CLEAN_TEST(test) cmocka_unit_test_setup_teardown(test, clean, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_have_their_names_for_cgroups),
		cmocka_unit_test(names_are_kept_where_there_is_no_id),
		cmocka_unit_test(a_pod_has_its_uid),
		cmocka_unit_test(a_container_in_a_container_is_the_outer_one_s),
		cmocka_unit_test(an_ordinary_process_is_in_no_container),
		CLEAN_TEST(all_hierarchies_are_looked_at),
		CLEAN_TEST(podman_and_its_names_are_read_from_its_file),
		CLEAN_TEST(files_of_engines_identify_the_container),
		CLEAN_TEST(variables_of_engines_identify_the_container),
		CLEAN_TEST(a_variable_with_another_meaning_is_not_recorded),
		CLEAN_TEST(outside_of_containers_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
