// SPDX-License-Identifier: BSD-2-Clause
/* The machine, by plain files like its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/meta.h"
#include "meta_fixture.h"

#define CPU "sys/devices/system/cpu/"

static struct system_info read_tree(const struct place *p)
{
	struct system_info s = { 0 };

	system_read(p->dir, &s);
	return s;
}

static void cpu(const struct place *p, unsigned number, const char *core, const char *package)
{
	char name[128];

	snprintf(name, sizeof(name), CPU "cpu%u/topology/core_cpus_list", number);
	tree_put(p, name, core);
	snprintf(name, sizeof(name), CPU "cpu%u/topology/package_cpus_list", number);
	tree_put(p, name, package);
}

static void the_model_is_that_of_the_first_processor(void **state)
{
	struct system_info s;

	tree_put(*state, "proc/cpuinfo",
		 "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763 64-Core Processor\n"
		 "flags\t\t: fpu hypervisor_not vme\n\nprocessor\t: 1\nmodel name\t: other\n");
	s = read_tree(*state);
	assert_string_equal(s.cpu_model, "AMD EPYC 7763 64-Core Processor");
	assert_true(s.knows_virtual);
	assert_false(s.is_virtual);
}

static void a_virtual_machine_is_marked_as_such(void **state)
{
	struct system_info s;

	tree_put(*state, "proc/cpuinfo", "flags\t\t: fpu vme hypervisor\n");
	tree_put(*state, "sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	tree_put(*state, "sys/class/dmi/id/product_name", "c7a.large\n");
	s = read_tree(*state);
	assert_true(s.is_virtual);
	assert_string_equal(s.machine, "Amazon EC2 c7a.large");
}

static void an_arm_cpu_is_named_by_its_numbers(void **state)
{
	tree_put(*state, "proc/cpuinfo",
		 "processor\t: 0\nFeatures\t: fp\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
	assert_string_equal(read_tree(*state).cpu_model, "implementer 0x41, part 0xd0c");
	assert_false(read_tree(*state).knows_virtual);
}

static void threads_of_a_core_and_cores_of_a_socket_are_distinguished(void **state)
{
	struct system_info s;

	tree_put(*state, CPU "online", "0-3,8-9\n");
	cpu(*state, 0, "0,8\n", "0-1,8-9\n");
	cpu(*state, 1, "1,9\n", "0-1,8-9\n");
	cpu(*state, 2, "2\n", "2-3\n");
	cpu(*state, 3, "3\n", "2-3\n");
	s = read_tree(*state);
	assert_int_equal(s.threads, 6);
	assert_int_equal(s.cores, 4);
	assert_int_equal(s.sockets, 2);
}

static void a_topology_with_gaps_is_absent(void **state)
{
	struct system_info s;

	tree_put(*state, CPU "online", "0-2\n");
	cpu(*state, 0, "0\n", "1-2\n");
	s = read_tree(*state);
	assert_int_equal(s.threads, 3);
	assert_int_equal(s.cores, 0);
	assert_int_equal(s.sockets, 0);
}

static void nodes_have_their_memory(void **state)
{
	struct system_info s;

	tree_put(*state, "sys/devices/system/node/online", "0,2\n");
	tree_put(*state, "sys/devices/system/node/node0/meminfo",
		 "Node 0 MemTotal:       4096 kB\n");
	tree_put(*state, "sys/devices/system/node/node2/meminfo",
		 "Node 2 MemTotal:       1024 kB\n");
	s = read_tree(*state);
	assert_int_equal(s.nr_nodes, 2);
	assert_int_equal(s.nodes[0].memory_bytes, 4096 << 10);
	assert_int_equal(s.nodes[1].number, 2);
	assert_int_equal(s.nodes[1].memory_bytes, 1024 << 10);
}

static void more_nodes_than_there_is_room_for_are_counted(void **state)
{
	tree_put(*state, "sys/devices/system/node/online", "0-255\n");
	assert_int_equal(read_tree(*state).nr_nodes, 256);
}

static void memory_and_pages(void **state)
{
	struct system_info s;

	tree_put(*state, "proc/meminfo",
		 "MemTotal:       100 kB\nSwapTotal:       2048 kB\nHugetlb:           0 kB\n");
	tree_put(*state, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	tree_put(*state, CPU "cpu0/cpufreq/scaling_governor", "performance\n");
	s = read_tree(*state);
	assert_true(s.has_swap && s.has_huge_pages);
	assert_int_equal(s.swap_bytes, 2048 << 10);
	assert_int_equal(s.huge_pages_bytes, 0);
	assert_string_equal(s.transparent_hugepage, "madvise");
	assert_string_equal(s.cpu_governor, "performance");
}

static void the_name_of_the_system_is_without_its_quotes(void **state)
{
	tree_put(*state, "etc/os-release", "NAME=\"x\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
	assert_string_equal(read_tree(*state).os, "Debian GNU/Linux 12");
	tree_put(*state, "etc/os-release", "PRETTY_NAME=Plain\n");
	assert_string_equal(read_tree(*state).os, "Plain");
}

static void the_name_of_the_system_has_a_second_place(void **state)
{
	tree_put(*state, "usr/lib/os-release", "PRETTY_NAME='Other 1'\n");
	assert_string_equal(read_tree(*state).os, "Other 1");
}

static void missing_files_give_no_values(void **state)
{
	const struct system_info nothing = { 0 };
	struct system_info s = read_tree(*state);

	assert_memory_equal(&s, &nothing, sizeof(s));
}

static void cut_off_and_odd_files_give_no_result(void **state)
{
	struct system_info s;

	tree_put(*state, "proc/cpuinfo", "model name");
	tree_put(*state, "proc/meminfo", "SwapTotal:\nHugetlb: x kB\n");
	tree_put(*state, "sys/kernel/mm/transparent_hugepage/enabled", "always [madv");
	tree_put(*state, "etc/os-release", "PRETTY_NAME=");
	tree_put(*state, CPU "online", "x\n");
	s = read_tree(*state);
	assert_string_equal(s.cpu_model, "");
	assert_false(s.has_swap || s.has_huge_pages);
	assert_string_equal(s.transparent_hugepage, "");
	assert_string_equal(s.os, "");
	assert_int_equal(s.threads, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(the_model_is_that_of_the_first_processor),
		PLACE_TEST(a_virtual_machine_is_marked_as_such),
		PLACE_TEST(an_arm_cpu_is_named_by_its_numbers),
		PLACE_TEST(threads_of_a_core_and_cores_of_a_socket_are_distinguished),
		PLACE_TEST(a_topology_with_gaps_is_absent),
		PLACE_TEST(nodes_have_their_memory),
		PLACE_TEST(more_nodes_than_there_is_room_for_are_counted),
		PLACE_TEST(memory_and_pages),
		PLACE_TEST(the_name_of_the_system_is_without_its_quotes),
		PLACE_TEST(the_name_of_the_system_has_a_second_place),
		PLACE_TEST(missing_files_give_no_values),
		PLACE_TEST(cut_off_and_odd_files_give_no_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
