// SPDX-License-Identifier: BSD-2-Clause
/* What the samples and the losses of a run come to. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "summary_fixture.h"

static void counters_keep_their_last_value(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 0, M_cpu, 5);
	add_sample(&s, SECOND_NS, M_cpu, 70);
	assert_int_equal(s.total.value[M_cpu], 70);
	assert_int_equal(s.samples, 2);
	assert_int_equal(s.wall_ns, SECOND_NS);
	summary_done(&s);
}

static void counter_missing_at_the_end_keeps_what_was_read(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 0, M_cpu, 5);
	add_sample(&s, SECOND_NS, M_minflt, 1);
	assert_true(sample_has(&s.total, M_cpu));
	assert_int_equal(s.total.value[M_cpu], 5);
	summary_done(&s);
}

static void delay_that_is_not_known_any_more_is_absent(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 0, M_blkio_delay, 5);
	add_sample(&s, SECOND_NS, M_cpu, 1);
	assert_false(sample_has(&s.total, M_blkio_delay));
	summary_done(&s);
}

static void metric_that_was_never_read_stays_absent(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 0, M_cpu, 5);
	assert_false(sample_has(&s.total, M_swap));
	assert_false(s.has_rss_peak);
	summary_done(&s);
}

static void memory_of_no_process_is_no_peak(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 0, M_rss, 0);
	assert_false(s.has_rss_peak);
	add_sample(&s, SECOND_NS, M_rss, 5);
	add_sample(&s, 2 * SECOND_NS, M_rss, 0);
	assert_true(s.has_rss_peak);
	assert_int_equal(s.rss_peak_bytes, 5);
	summary_done(&s);
}

static void processes_are_the_forks_and_the_command(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 0, M_forks, 41);
	assert_int_equal(s.processes_total, 42);
	summary_done(&s);
}

static void peak_of_memory_is_the_first_of_the_largest_samples(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 1, M_rss, 10);
	add_sample(&s, 2, M_rss, 30);
	add_sample(&s, 3, M_rss, 30);
	add_sample(&s, 4, M_rss, 20);
	assert_true(s.has_rss_peak);
	assert_int_equal(s.rss_peak_bytes, 30);
	assert_int_equal(s.rss_peak_elapsed_ns, 2);
	summary_done(&s);
}

static void add_cgroup_sample(struct summary *s, uint64_t usage, uint64_t anon, uint64_t file)
{
	struct sample smp = { .elapsed_ns = usage };

	sample_set(&smp, M_cgroup_memory, usage);
	sample_set(&smp, M_cgroup_anon, anon);
	sample_set(&smp, M_cgroup_file, file);
	summary_add_sample(s, &smp);
}

static void shares_of_a_cgroup_are_those_at_the_largest_sample(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_cgroup_sample(&s, 10, 9, 1);
	add_cgroup_sample(&s, 50, 20, 25);
	add_cgroup_sample(&s, 40, 39, 0);
	assert_true(s.has_cgroup_split);
	assert_int_equal(s.cgroup_peak_anon_bytes, 20);
	assert_int_equal(s.cgroup_peak_file_bytes, 25);
	assert_false(s.has_cgroup_peak); /* which is the kernel's alone */
	summary_done(&s);
}

static void shares_of_a_cgroup_need_both(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 1, M_cgroup_memory, 10);
	assert_false(s.has_cgroup_split);
	summary_done(&s);
}

static void most_cores_are_remembered(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 10000000, M_cores, 500);
	add_sample(&s, 20000000, M_cores, 1900);
	add_sample(&s, 30000000, M_cores, 100);
	assert_int_equal(s.cores_peak, 1900);
	summary_done(&s);
}

/* CPU time moves by ticks: what is too short counts together with what follows. */
static void cores_over_less_than_a_tick_are_no_peak(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 400000, M_cores, 6710);
	add_sample(&s, 10400000, M_cores, 900);
	assert_int_equal(s.cores_peak, (6710 * 4 + 900 * 100) / 104);
	summary_done(&s);
}

static void peak_of_cores_is_never_below_their_mean(void **state)
{
	struct summary s = { 0 }, brief = { 0 };

	(void)state;
	add_sample(&s, 100000000, M_cores, 0);
	add_sample(&s, 104000000, M_cores, 1000);
	sample_set(&s.total, M_cpu, 4000000);
	summary_finish(&s);
	assert_int_equal(summary_cores_mean(&s), 38);
	assert_int_equal(s.cores_peak, 38);
	add_sample(&brief, 2000000, M_cores, 500);
	sample_set(&brief.total, M_cpu, 1000000);
	summary_finish(&brief);
	assert_int_equal(brief.cores_peak, 500);
	summary_done(&s);
	summary_done(&brief);
}

static void peak_of_cores_is_never_above_the_cpus_there_are(void **state)
{
	struct summary s = { .cores.cpus = 2 };

	(void)state;
	add_sample(&s, 100000000, M_cores, 2000);
	add_sample(&s, 104000000, M_cpu, 300000000);
	summary_finish(&s);
	assert_int_equal(s.cores_peak, 2000);
	summary_done(&s);
}

static void mean_of_cores_is_cpu_time_over_wall_time(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 4 * SECOND_NS, M_cpu, 6 * SECOND_NS);
	assert_int_equal(summary_cores_mean(&s), 1500);
	summary_done(&s);
}

static void mean_of_cores_over_no_time_is_zero(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 0, M_cpu, SECOND_NS);
	assert_int_equal(summary_cores_mean(&s), 0);
	summary_done(&s);
}

static void mean_of_cores_does_not_overflow_after_decades_of_cpu_time(void **state)
{
	const uint64_t decade_ns = 10 * 365 * 86400 * SECOND_NS;
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, decade_ns / 100, M_cpu, decade_ns);
	assert_int_equal(summary_cores_mean(&s), 100000);
	summary_done(&s);
}

static void loss_makes_the_run_incomplete(void **state)
{
	struct summary s = { .complete = true };

	(void)state;
	summary_add_loss(&s, "records", 3);
	summary_add_loss(&s, "records", 4);
	summary_add_loss(&s, "tasks_full", 1);
	assert_false(s.complete);
	assert_int_equal(s.nr_losses, 2);
	assert_string_equal(s.losses[0].name, "records");
	assert_int_equal(s.losses[0].count, 7);
}

static void loss_of_nothing_is_none(void **state)
{
	struct summary s = { .complete = true };

	(void)state;
	summary_add_loss(&s, "records", 0);
	assert_true(s.complete);
	assert_int_equal(s.nr_losses, 0);
}

static void add_losses(struct summary *s, size_t n)
{
	char name[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "loss_%zu", i);
		summary_add_loss(s, name, 1);
	}
}

static void more_kinds_of_loss_than_fit_still_make_it_incomplete(void **state)
{
	struct summary s = { .complete = true };

	(void)state;
	add_losses(&s, MAX_LOSSES + 1);
	assert_false(s.complete);
	assert_int_equal(s.nr_losses, MAX_LOSSES);
}

static void empty_summary_can_be_finished_and_done(void **state)
{
	struct summary s = { 0 };

	(void)state;
	summary_finish(&s);
	assert_int_equal(s.nr_programs, 0);
	summary_done(&s);
	summary_done(&s);
}

static void bound_that_is_below_the_exact_peak_is_left_as_it_is(void **state)
{
	struct summary s = { .has_rss_peak_upper = true, .has_rss_peak_exact = true };

	(void)state;
	s.rss_peak_upper_bytes = 5;
	s.rss_peak_exact_bytes = 7;
	s.rss_peak_bytes = 6;
	summary_finish(&s);
	assert_int_equal(s.rss_peak_upper_bytes, 5);
	summary_done(&s);
}

static void written_bytes_are_a_bound_where_calls_wrote_less(void **state)
{
	struct summary s = { 0 };

	(void)state;
	sample_set(&s.total, M_write, 4096);
	assert_false(summary_write_is_bound(&s));
	sample_set(&s.total, M_wchar, 4096);
	assert_false(summary_write_is_bound(&s));
	sample_set(&s.total, M_wchar_files, 4095);
	assert_true(summary_write_is_bound(&s));
	sample_set(&s.total, M_wchar_kernel, 1);
	assert_false(summary_write_is_bound(&s));
	summary_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound_that_is_below_the_exact_peak_is_left_as_it_is),
		cmocka_unit_test(counters_keep_their_last_value),
		cmocka_unit_test(counter_missing_at_the_end_keeps_what_was_read),
		cmocka_unit_test(delay_that_is_not_known_any_more_is_absent),
		cmocka_unit_test(metric_that_was_never_read_stays_absent),
		cmocka_unit_test(memory_of_no_process_is_no_peak),
		cmocka_unit_test(processes_are_the_forks_and_the_command),
		cmocka_unit_test(peak_of_memory_is_the_first_of_the_largest_samples),
		cmocka_unit_test(shares_of_a_cgroup_are_those_at_the_largest_sample),
		cmocka_unit_test(shares_of_a_cgroup_need_both),
		cmocka_unit_test(most_cores_are_remembered),
		cmocka_unit_test(cores_over_less_than_a_tick_are_no_peak),
		cmocka_unit_test(peak_of_cores_is_never_below_their_mean),
		cmocka_unit_test(peak_of_cores_is_never_above_the_cpus_there_are),
		cmocka_unit_test(mean_of_cores_is_cpu_time_over_wall_time),
		cmocka_unit_test(mean_of_cores_over_no_time_is_zero),
		cmocka_unit_test(mean_of_cores_does_not_overflow_after_decades_of_cpu_time),
		cmocka_unit_test(loss_makes_the_run_incomplete),
		cmocka_unit_test(loss_of_nothing_is_none),
		cmocka_unit_test(more_kinds_of_loss_than_fit_still_make_it_incomplete),
		cmocka_unit_test(empty_summary_can_be_finished_and_done),
		cmocka_unit_test(written_bytes_are_a_bound_where_calls_wrote_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
