// SPDX-License-Identifier: BSD-2-Clause
/* What compares runs, as the meta line has it: known values, absent ones, odd ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire_fixture.h"

#define REVISION "0123456789abcdef0123456789abcdef01234567"

static void write_with(const struct meta *m, struct jsonw *j)
{
	struct run run;

	fixture_run(&run);
	run.meta = m;
	write_meta(j, &run);
}

static void the_machine_is_part_of_the_system(void **state)
{
	static const struct meta m = { .system = {
					       .cpu_model = "EPYC",
					       .sockets = 2,
					       .cores = 64,
					       .threads = 128,
					       .nodes = { { 0, 4096 }, { 2, 8192 } },
					       .nr_nodes = 2,
					       .has_swap = true,
					       .knows_virtual = true,
					       .os = "Debian",
					       .boot_epoch_ns = START_NS,
				       } };
	struct jsonw j = { 0 };

	(void)state;
	write_with(&m, &j);
	assert_has(&j, "\"kernel\":\"Linux 6.18.0 x86_64\",\"cpu_model\":\"EPYC\","
		       "\"cpu_sockets\":2,\"cpu_cores\":64,\"cpu_threads\":128,\"numa_nodes\":2,"
		       "\"numa_memory_bytes\":{\"0\":4096,\"2\":8192},\"swap_bytes\":0,"
		       "\"os\":\"Debian\",\"virtual\":false,\"boot_time\":1763690000.123456}");
	jsonw_done(&j);
}

static void more_nodes_than_are_kept_are_a_number(void **state)
{
	static const struct meta m = { .system.nr_nodes = MAX_NODES + 1 };
	struct jsonw j = { 0 };

	(void)state;
	write_with(&m, &j);
	assert_has(&j, "\"numa_nodes\":65}");
	jsonw_done(&j);
}

static void limits_have_their_units(void **state)
{
	static struct meta m = { .limits = { .cgroup = "/job", .cpus_allowed = "0-3,8" } };
	struct jsonw j = { 0 };

	(void)state;
	limit_lower(&m.limits, LIMIT_MEMORY_MAX, 5 * MIB);
	limit_lower(&m.limits, LIMIT_MEMORY_MAX, 4 * MIB);
	limit_lower(&m.limits, LIMIT_MEMORY_MAX, 6 * MIB);
	limit_lower(&m.limits, LIMIT_CPU_MAX, 1500);
	limit_lower(&m.limits, LIMIT_CORE, 0);
	write_with(&m, &j);
	assert_has(&j, "\"limits\":{\"cgroup\":\"/job\",\"cpus_allowed\":\"0-3,8\","
		       "\"cpus_allowed_count\":5,\"memory_max_bytes\":4194304,"
		       "\"cpu_max_cores\":1.5,\"rlimit_core_bytes\":0}");
	jsonw_done(&j);
}

static void container_variables_and_revision_are_objects(void **state)
{
	static const struct meta m = {
		.container = { .engine = "podman", .id = "4f1c2a", .pod = "u" },
		.variables = { { "SLURM_JOB_ID", "7" }, { "OMP_NUM_THREADS", "8" } },
		.nr_variables = 2,
		.git = { .revision = REVISION, .branch = "main" },
	};
	struct jsonw j = { 0 };

	(void)state;
	write_with(&m, &j);
	assert_has(&j, "\"container\":{\"engine\":\"podman\",\"id\":\"4f1c2a\",\"pod\":\"u\"},"
		       "\"scheduler\":{\"SLURM_JOB_ID\":\"7\",\"OMP_NUM_THREADS\":\"8\"},"
		       "\"git\":{\"revision\":\"" REVISION "\",\"branch\":\"main\"},");
	jsonw_done(&j);
}

static void unknown_facts_are_absent(void **state)
{
	static const struct meta m = { 0 };
	struct jsonw with = { 0 }, without = { 0 };

	(void)state;
	write_with(&m, &with);
	write_with(NULL, &without);
	assert_string_equal(with.text, without.text);
	jsonw_done(&with);
	jsonw_done(&without);
}

static void odd_values_are_escaped(void **state)
{
	static const struct meta m = {
		.variables = { { "SLURM_JOB_NAME", "\"</x>\n\033[31m\xff" } }, .nr_variables = 1
	};
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	write_with(&m, &j);
	assert_has(&j, "\"SLURM_JOB_NAME\":\"\\\"</x>\\u000a\\u001b[31m\xef\xbf\xbd\"");
	assert_has(&j, "\"lossy\":true");
	read_back(&l, &j);
	assert_int_equal(l.kind, LINE_META);
	line_done(&l);
	jsonw_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machine_is_part_of_the_system),
		cmocka_unit_test(more_nodes_than_are_kept_are_a_number),
		cmocka_unit_test(limits_have_their_units),
		cmocka_unit_test(container_variables_and_revision_are_objects),
		cmocka_unit_test(unknown_facts_are_absent),
		cmocka_unit_test(odd_values_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
