// SPDX-License-Identifier: BSD-2-Clause
/* What slowed a run down, in one sentence: a stall, a queue for CPUs, a lock, disks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "text/answer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define MS NSEC_PER_MSEC
#define START (1000 * NSEC_PER_SEC)

static struct summary run_of(uint64_t wall_ms, uint64_t cpu_ms, uint64_t queue_ms)
{
	struct summary s = { .wall_ns = wall_ms * MS };

	sample_set(&s.total, M_cpu, cpu_ms * MS);
	sample_set(&s.total, M_runqueue_wait, queue_ms * MS);
	return s;
}

static void add(struct stalls *s, const char *text)
{
	json_t *event = json_loads(text, 0, NULL);

	assert_non_null(event);
	stalls_add(s, event);
	json_decref(event);
}

static char *text_of(void (*write)(FILE *, const struct slowdown *), const struct slowdown *a)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	write(f, a);
	fclose(f);
	return text;
}

static void assert_said(const struct summary *s, uint64_t cores, struct stalls *stalls,
			const char *expected, const char *in_short)
{
	struct slowdown a;
	char *text;

	slowdown_of_run(&a, s, START, cores, stalls);
	text = text_of(slowdown_text, &a);
	assert_string_equal(text, expected);
	free(text);
	text = text_of(slowdown_short_text, &a);
	assert_string_equal(text, in_short);
	free(text);
}

#define STALLED(time, since, more)                                                                 \
	"{\"event\":\"stalled\",\"time\":" #time ",\"since_time\":" #since more "}"
#define RESUMED(time) "{\"event\":\"resumed\",\"time\":" #time ",\"since_time\":1}"
#define LOCK                                                                                       \
	",\"reason\":\"7 flock waits ...\",\"cause\":\"flock waited for a lock held by 2148 "      \
	"sleep\""

static void stall_is_the_answer_with_its_cause(void **state)
{
	struct summary s = run_of(41912, 100, 10);
	struct stalls stalls = { 0 };

	(void)state;
	add(&stalls, STALLED(1003, 1001, LOCK));
	add(&stalls, RESUMED(1040.5));
	assert_said(&s, 2000, &stalls,
		    "Stood still for 39.5 of 41.9 s: flock waited for a lock held by 2148 sleep",
		    "stood still for 39.5 s");
}

static void stalls_add_up_and_the_longest_has_the_cause(void **state)
{
	struct summary s = run_of(100000, 100, 10);
	struct stalls stalls = { 0 };

	(void)state;
	add(&stalls, STALLED(1012, 1010, ",\"cause\":\"a\""));
	add(&stalls, RESUMED(1020));
	add(&stalls, "{\"event\":\"late_ticks\",\"time\":1030}");
	add(&stalls, STALLED(1042, 1040, ",\"reason\":\"5 cat waits\""));
	assert_said(&s, 0, &stalls, "Stood still for 70.0 of 100 s: 5 cat waits",
		    "stood still for 70.0 s");
}

static void stall_without_a_reason_has_that_of_the_samples(void **state)
{
	struct summary s = run_of(10000, 100, 10);
	struct stalls stalls = { 0 };

	(void)state;
	add(&stalls, STALLED(1002, 1000, ""));
	assert_said(&s, 0, &stalls, "Stood still for 10.0 of 10.0 s", "stood still for 10.0 s");
	sample_set(&s.total, M_wait_child, 9900 * MS);
	sample_set(&s.total, M_wait_lock, 9000 * MS);
	assert_said(&s, 0, &stalls,
		    "Stood still for 10.0 of 10.0 s: it waited for the lock of a file",
		    "stood still for 10.0 s");
}

static void short_stall_of_a_long_run_is_no_answer(void **state)
{
	struct summary s = run_of(1000000, 100, 10);
	struct stalls stalls = { 0 };

	(void)state;
	add(&stalls, STALLED(1012, 1010, LOCK));
	add(&stalls, RESUMED(1080));
	assert_said(&s, 0, &stalls, "", "");
}

static void starved_run_waited_for_a_cpu(void **state)
{
	struct summary s = run_of(28800, 6400, 22300);
	struct stalls stalls = { 0 };

	(void)state;
	/* without a CPU nothing is done, which is a stall */
	add(&stalls, STALLED(1012, 1010, LOCK));
	assert_said(&s, 2000, &stalls,
		    "Ran for 28.8 s, of which 22.3 s waiting for a CPU: the machine was busy with "
		    "other work",
		    "waited 22.3 s for a CPU");
	sample_set(&s.total, M_cgroup_throttled, 20000 * MS);
	assert_said(
		&s, 2000, NULL,
		"Ran for 28.8 s, of which 22.3 s waiting for a CPU: the CPU limit of its cgroup "
		"was used up",
		"waited 22.3 s for a CPU");
}

static void threads_that_compete_are_no_other_work(void **state)
{
	struct summary s = run_of(10000, 19800, 30000);

	(void)state;
	assert_said(
		&s, 2000, NULL,
		"Ran for 10.0 s; its threads ran for 19.8 s and waited 30.0 s for a CPU: it had "
		"more threads than CPUs",
		"waited 30.0 s for a CPU");
	s = run_of(10000, 12000, 30000);
	assert_said(&s, 2000, NULL,
		    "Ran for 10.0 s; its threads ran for 12.0 s and waited 30.0 s for a CPU",
		    "waited 30.0 s for a CPU");
	assert_said(&s, 8000, NULL,
		    "Ran for 10.0 s; its threads ran for 12.0 s and waited 30.0 s for a CPU: the "
		    "machine was busy with other work",
		    "waited 30.0 s for a CPU");
}

static void waits_without_a_stall_are_estimates(void **state)
{
	struct summary s = run_of(41912, 100, 10);

	(void)state;
	sample_set(&s.total, M_wait_lock, 39500 * MS);
	assert_said(&s, 0, NULL,
		    "Ran for 41.9 s, of which about 39.5 s waiting for the lock of a file",
		    "waited 39.5 s for the lock of a file");
	s = run_of(10000, 100, 10);
	s.is_attached = true;
	sample_set(&s.total, M_blkio_delay, 40000 * MS);
	assert_said(&s, 0, NULL, "Followed for 10.0 s; its threads waited 40.0 s for disks",
		    "waited 40.0 s for disks");
}

static void short_waits_are_no_answer(void **state)
{
	struct summary s = run_of(900, 100, 800), busy = run_of(10000, 9000, 1000), none = { 0 };
	struct summary killed = run_of(10000, 100, 9000);

	(void)state;
	killed.oom.is_command = true;
	assert_said(&killed, 0, NULL, "", "");
	assert_said(&s, 0, NULL, "", "");
	assert_said(&busy, 0, NULL, "", "");
	assert_said(&none, 0, NULL, "", "");
}

static void hostile_cause_is_inert_and_cut(void **state)
{
	struct summary s = run_of(10000, 0, 0);
	char event[1024] = STALLED(1001, 1000, ",\"cause\":\"a\\u001b[2Jb\"");
	struct stalls stalls = { 0 };

	(void)state;
	add(&stalls, event);
	add(&stalls, "{\"event\":\"resumed\",\"time\":1e300}");
	add(&stalls, "{\"event\":\"stalled\",\"since_time\":-5}");
	assert_said(&s, 0, &stalls, "", "");
	stalls = (struct stalls){ 0 };
	add(&stalls, event);
	assert_said(&s, 0, &stalls, "Stood still for 10.0 of 10.0 s: a?[2Jb",
		    "stood still for 10.0 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stall_is_the_answer_with_its_cause),
		cmocka_unit_test(stalls_add_up_and_the_longest_has_the_cause),
		cmocka_unit_test(stall_without_a_reason_has_that_of_the_samples),
		cmocka_unit_test(short_stall_of_a_long_run_is_no_answer),
		cmocka_unit_test(starved_run_waited_for_a_cpu),
		cmocka_unit_test(threads_that_compete_are_no_other_work),
		cmocka_unit_test(waits_without_a_stall_are_estimates),
		cmocka_unit_test(short_waits_are_no_answer),
		cmocka_unit_test(hostile_cause_is_inert_and_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
