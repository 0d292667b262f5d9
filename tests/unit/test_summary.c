// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"

#define SECOND_NS 1000000000ULL

static void add_sample(struct summary *s, uint64_t elapsed_ns, enum metric_id id, uint64_t value)
{
	struct sample smp = { .elapsed_ns = elapsed_ns };

	sample_set(&smp, id, value);
	summary_add_sample(s, &smp);
}

static void add_process(struct summary *s, const char *exe, uint64_t cpu_ns, uint64_t peak_bytes)
{
	struct process p = { .exe = exe, .rss_peak_bytes = peak_bytes, .has_rss_peak = peak_bytes };

	p.value[M_cpu] = cpu_ns;
	metric_put(&p.have, M_cpu);
	assert_int_equal(summary_add_process(s, &p), 0);
}

/* Programs p0, p1, ... of one process each. */
static void add_programs(struct summary *s, size_t n)
{
	char exe[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(exe, sizeof(exe), "p%zu", i);
		add_process(s, exe, 1, 0);
	}
}

static uint64_t processes_of_all(const struct summary *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nr_programs; i++)
		n += s->programs[i].processes;
	return n;
}

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

static void metric_that_was_never_read_stays_absent(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 0, M_cpu, 5);
	assert_false(sample_has(&s.total, M_swap));
	assert_false(s.has_rss_peak);
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

static void peak_of_memory_may_be_zero(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 7, M_rss, 0);
	assert_true(s.has_rss_peak);
	assert_int_equal(s.rss_peak_elapsed_ns, 7);
	summary_done(&s);
}

static void peak_of_all_is_never_below_that_of_one_process(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 1, M_rss, 10 * MIB);
	add_process(&s, "/bin/short", 1, 90 * MIB);
	summary_finish(&s);
	assert_int_equal(s.rss_peak_bytes, 90 * MIB);
	assert_int_equal(s.process_rss_peak_bytes, 90 * MIB);
	summary_done(&s);
}

static void exactness_is_that_of_the_largest_process(void **state)
{
	struct process bound = { .has_rss_peak = true, .rss_peak_bytes = 9 };
	struct process exact = { .has_rss_peak = true,
				 .rss_peak_bytes = 8,
				 .rss_peak_exact = true };
	struct summary s = { 0 };

	(void)state;
	summary_add_process(&s, &bound);
	summary_add_process(&s, &exact);
	assert_int_equal(s.process_rss_peak_bytes, 9);
	assert_false(s.process_rss_peak_exact);
	assert_false(s.programs[0].rss_peak_exact);
	summary_done(&s);
}

static void most_cores_are_remembered(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 1, M_cores, 500);
	add_sample(&s, 2, M_cores, 1900);
	add_sample(&s, 3, M_cores, 100);
	assert_int_equal(s.cores_peak, 1900);
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

static void processes_of_one_program_are_added_up(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_process(&s, "/bin/cc", 3, 10);
	add_process(&s, "/bin/cc", 4, 30);
	add_process(&s, "/bin/cc", 5, 20);
	assert_int_equal(s.nr_programs, 1);
	assert_int_equal(s.programs[0].processes, 3);
	assert_int_equal(s.programs[0].value[M_cpu], 12);
	assert_int_equal(s.programs[0].rss_peak_bytes, 30);
	assert_false(metric_has(&s.programs[0].have, M_minflt));
	summary_done(&s);
}

static void programs_that_are_not_known_are_one(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_process(&s, NULL, 3, 0);
	add_process(&s, NULL, 4, 0);
	assert_int_equal(s.nr_programs, 1);
	assert_null(s.programs[0].exe);
	assert_int_equal(s.programs[0].value[M_cpu], 7);
	summary_done(&s);
}

static void programs_are_sorted_by_cpu_time_then_count_then_name(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_process(&s, "b", 1, 0);
	add_process(&s, "a", 1, 0);
	add_process(&s, "twice", 1, 0);
	add_process(&s, "twice", 0, 0);
	add_process(&s, "heavy", 9, 0);
	summary_finish(&s);
	assert_string_equal(s.programs[0].exe, "heavy");
	assert_string_equal(s.programs[1].exe, "twice");
	assert_string_equal(s.programs[2].exe, "a");
	assert_string_equal(s.programs[3].exe, "b");
	summary_done(&s);
}

static void too_many_programs_are_counted_together(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_programs(&s, MAX_PROGRAMS + 100);
	assert_int_equal(s.nr_programs, MAX_PROGRAMS);
	assert_null(s.programs[MAX_PROGRAMS - 1].exe);
	assert_int_equal(s.programs[MAX_PROGRAMS - 1].processes, 101);
	assert_int_equal(processes_of_all(&s), MAX_PROGRAMS + 100);
	summary_done(&s);
}

static void known_program_is_still_found_among_too_many(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_programs(&s, MAX_PROGRAMS);
	add_process(&s, "p0", 1, 0);
	assert_int_equal(s.programs[0].processes, 2);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_keep_their_last_value),
		cmocka_unit_test(counter_missing_at_the_end_keeps_what_was_read),
		cmocka_unit_test(metric_that_was_never_read_stays_absent),
		cmocka_unit_test(processes_are_the_forks_and_the_command),
		cmocka_unit_test(peak_of_memory_is_the_first_of_the_largest_samples),
		cmocka_unit_test(peak_of_memory_may_be_zero),
		cmocka_unit_test(peak_of_all_is_never_below_that_of_one_process),
		cmocka_unit_test(exactness_is_that_of_the_largest_process),
		cmocka_unit_test(most_cores_are_remembered),
		cmocka_unit_test(mean_of_cores_is_cpu_time_over_wall_time),
		cmocka_unit_test(mean_of_cores_over_no_time_is_zero),
		cmocka_unit_test(mean_of_cores_does_not_overflow_after_decades_of_cpu_time),
		cmocka_unit_test(processes_of_one_program_are_added_up),
		cmocka_unit_test(programs_that_are_not_known_are_one),
		cmocka_unit_test(programs_are_sorted_by_cpu_time_then_count_then_name),
		cmocka_unit_test(too_many_programs_are_counted_together),
		cmocka_unit_test(known_program_is_still_found_among_too_many),
		cmocka_unit_test(loss_makes_the_run_incomplete),
		cmocka_unit_test(loss_of_nothing_is_none),
		cmocka_unit_test(more_kinds_of_loss_than_fit_still_make_it_incomplete),
		cmocka_unit_test(empty_summary_can_be_finished_and_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
