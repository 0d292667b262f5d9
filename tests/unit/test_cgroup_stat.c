// SPDX-License-Identifier: BSD-2-Clause
/* What a cgroup's files say, in both versions. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cgroup_stat_fixture.h"

static void version_1_is_read_with_its_children(void **state)
{
	open_and_read(*state);
	assert_common(*state);
	assert_value(*state, M_cgroup_swap, 0);
}

static void version_2_is_read(void **state)
{
	open_and_read(*state);
	assert_common(*state);
	assert_value(*state, M_cgroup_swap, 5);
}

static void memory_of_gpus_is_the_sum_of_their_regions(void **state)
{
	open_and_read(*state);
	assert_value(*state, M_cgroup_gpu_memory, 4096 + 8192);
}

static void memory_of_gpus_is_absent_where_no_driver_counts_it(void **state)
{
	put(*state, "dmem.current", "");
	open_and_read(*state);
	assert_absent(*state, M_cgroup_gpu_memory, "not provided by");
}

static void version_1_has_no_pressure(void **state)
{
	open_and_read(*state);
	assert_absent(*state, M_cgroup_memory_pressure_some, "cgroup v2");
	assert_absent(*state, M_cgroup_memory_pressure_full, "cgroup v2");
}

static void pressure_of_version_2_is_counted_from_the_opening(void **state)
{
	open_and_read(*state);
	assert_value(*state, M_cgroup_memory_pressure_some, 0);
	put(*state, "memory.pressure", PRESSURE(4500, 2500));
	cgroup_stat_read(&((struct fake *)*state)->stat, &((struct fake *)*state)->run.usable,
			 &((struct fake *)*state)->sample);
	assert_value(*state, M_cgroup_memory_pressure_some, 3000000);
	assert_value(*state, M_cgroup_memory_pressure_full, 2000000);
}

static void read_again(struct fake *k)
{
	sample_reset(&k->sample);
	cgroup_stat_read(&k->stat, &k->run.usable, &k->sample);
}

static void counters_count_from_the_opening(void **state)
{
	struct fake *k = *state;

	open_and_read(k);
	assert_value(k, M_cgroup_cpu, 0);
	assert_value(k, M_cgroup_read, 0);
	assert_int_equal(k->run.baseline[M_cgroup_cpu], 5000000);
	assert_int_equal(k->run.baseline[M_cgroup_read], 111);
	put(k, "cpu.stat", "usage_usec 5700\nuser_usec 3000\nsystem_usec 2700\n");
	put(k, "io.stat", "8:0 rbytes=101 wbytes=20 rios=1\n254:0 rbytes=12 wbytes=5 rios=1\n");
	read_again(k);
	assert_value(k, M_cgroup_cpu, 700000);
	assert_value(k, M_cgroup_user, 0);
	assert_value(k, M_cgroup_read, 2);
	assert_value(k, M_cgroup_write, 3);
}

static void counters_go_on_in_one_that_is_made_again(void **state)
{
	struct fake *k = *state;

	open_and_read(k);
	put(k, "cpu.stat", "usage_usec 5700\nuser_usec 3000\nsystem_usec 2700\n");
	read_again(k);
	put(k, "cpu.stat", "usage_usec 6000\nuser_usec 6000\nsystem_usec 0\n");
	cgroup_stat_reopen(&k->stat);
	read_again(k);
	assert_value(k, M_cgroup_cpu, 6700000);
	assert_value(k, M_cgroup_system, 700000);
}

static void each_sample_is_read_anew(void **state)
{
	struct fake *k = *state;

	open_and_read(k);
	put(k, "memory.usage_in_bytes", "77\n");
	cgroup_stat_read(&k->stat, &k->run.usable, &k->sample);
	assert_value(k, M_cgroup_memory, 77);
}

static void missing_file_makes_its_metrics_absent(void **state)
{
	struct fake *k = *state;
	char path[256];

	snprintf(path, sizeof(path), "%s/memory.kmem.usage_in_bytes", k->place->dir);
	assert_int_equal(unlink(path), 0);
	open_and_read(k);
	assert_absent(k, M_cgroup_kernel, "not provided by");
	assert_value(k, M_cgroup_anon, 400000);
}

static void missing_line_makes_its_metric_absent(void **state)
{
	struct fake *k = *state;

	put(k, "memory.stat", "anon 400000\nfile_mapped 8\nkernel_stack 7\nshmem");
	open_and_read(k);
	assert_value(k, M_cgroup_anon, 400000);
	assert_absent(k, M_cgroup_file, "not provided by");
	assert_absent(k, M_cgroup_kernel, "not provided by");
	assert_absent(k, M_cgroup_shmem, "not provided by");
}

static void without_a_cgroup_the_reason_names_the_option(void **state)
{
	struct fake *k = *state;

	k->run.is_attached = true;
	cgroup_stat_open(&k->stat, NULL, &k->run);
	assert_absent(k, M_cgroup_cpu, "--cgroup");
	metric_set_all(&k->run.usable);
	k->run.is_attached = false;
	cgroup_stat_open(&k->stat, NULL, &k->run);
	assert_absent(k, M_cgroup_memory, "--own-cgroup");
	assert_absent(k, M_cgroup_memory_pressure_some, "--own-cgroup");
	assert_true(metric_has(&k->run.usable, M_rss));
}

static void nothing_is_opened_where_nothing_is_wanted(void **state)
{
	struct fake *k = *state;

	metric_set_clear_source(&k->run.usable, SOURCE_CGROUP);
	open_and_read(k);
	assert_int_equal(k->stat.fd[CGROUP_USAGE], -1);
	assert_false(sample_has(&k->sample, M_cgroup_memory));
	assert_null(k->run.unusable[M_cgroup_memory]);
}

static void only_what_is_wanted_is_set(void **state)
{
	struct fake *k = *state;

	metric_set_clear_source(&k->run.usable, SOURCE_CGROUP);
	metric_put(&k->run.usable, M_cgroup_file);
	open_and_read(k);
	assert_value(k, M_cgroup_file, 500000);
	assert_false(sample_has(&k->sample, M_cgroup_anon));
	assert_false(sample_has(&k->sample, M_cgroup_memory));
}

static void peak_is_the_kernels(void **state)
{
	uint64_t bytes = 0;

	open_and_read(*state);
	assert_true(cgroup_stat_peak(&((struct fake *)*state)->stat, &bytes));
	assert_int_equal(bytes, 3000000);
}

static void peak_of_a_kernel_without_one_is_unknown(void **state)
{
	struct fake *k = *state;
	uint64_t bytes = 5;
	char path[256];

	snprintf(path, sizeof(path), "%s/memory.peak", k->place->dir);
	assert_int_equal(unlink(path), 0);
	open_and_read(k);
	assert_false(cgroup_stat_peak(&k->stat, &bytes));
	assert_int_equal(bytes, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		V1_TEST(version_1_is_read_with_its_children),
		V2_TEST(version_2_is_read),
		V2_TEST(memory_of_gpus_is_the_sum_of_their_regions),
		V2_TEST(memory_of_gpus_is_absent_where_no_driver_counts_it),
		V1_TEST(version_1_has_no_pressure),
		V2_TEST(pressure_of_version_2_is_counted_from_the_opening),
		V2_TEST(counters_count_from_the_opening),
		V2_TEST(counters_go_on_in_one_that_is_made_again),
		V1_TEST(each_sample_is_read_anew),
		V1_TEST(missing_file_makes_its_metrics_absent),
		V2_TEST(missing_line_makes_its_metric_absent),
		V1_TEST(without_a_cgroup_the_reason_names_the_option),
		V1_TEST(nothing_is_opened_where_nothing_is_wanted),
		V1_TEST(only_what_is_wanted_is_set),
		V1_TEST(peak_is_the_kernels),
		V2_TEST(peak_is_the_kernels),
		V2_TEST(peak_of_a_kernel_without_one_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
