// SPDX-License-Identifier: BSD-2-Clause
/* Records of OTLP of a board: when their counters began, and that series end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "push/otlp.h"
#include "push_points_fixture.h"

static int records_make(void **state)
{
	if (push_make(state))
		return -1;
	points_done(&points);
	style.put_labels = points_put_attributes;
	return points_init(&points, "n1", "cluster=alpha", "all", INTERVAL, DIALECT_OTLP);
}

#define RECORDS_TEST(test) cmocka_unit_test_setup_teardown(test, records_make, push_remove)

/* Reads the field, which has to be there. */
static struct otlp_field field_of(const struct otlp_field *message, unsigned field)
{
	struct otlp_field f;

	assert_true(otlp_find(&f, field, message->bytes, message->length));
	return f;
}

/* What a data point says. */
struct seen {
	unsigned nr; /* points with the name and labels */
	uint64_t start_ns, time_ns, value;
	bool is_end, is_sum;
};

static bool is_within(const struct otlp_field *f, const char *text)
{
	return memmem(f->bytes, f->length, text, strlen(text));
}

/* A number of eight bytes: it is behind its tag. */
static uint64_t fixed_of(const struct otlp_field *point, unsigned field)
{
	const char *at = point->bytes;
	uint64_t v = 0;

	for (size_t n; at < point->bytes + point->length; at += n) {
		n = (*at & 7) == 1 ? 9 : (*at & 7) == 2 ? 2U + (unsigned char)at[1] : 2;
		if ((unsigned char)*at != (field << 3 | 1))
			continue;
		memcpy(&v, at + 1, 8); /* tests run on machines with the lowest byte first */
		return v;
	}
	return 0;
}

static void metric_see(struct seen *s, const struct otlp_field *metric, const char *name,
		       const char *job)
{
	const struct otlp_field is_named = field_of(metric, 1);
	struct otlp_field data, point, flags;

	if (is_named.length != strlen(name) || memcmp(is_named.bytes, name, is_named.length) != 0)
		return;
	s->is_sum = otlp_find(&data, 7, metric->bytes, metric->length);
	if (!s->is_sum)
		data = field_of(metric, 5);
	point = field_of(&data, 1);
	if (!is_within(&point, job))
		return;
	s->nr++;
	s->start_ns = fixed_of(&point, 2);
	s->time_ns = fixed_of(&point, 3);
	s->value = fixed_of(&point, 6);
	s->is_end = otlp_find(&flags, 8, point.bytes, point.length) && flags.number == 1;
	if (s->is_end) /* then it has neither */
		assert_true(!s->value && !fixed_of(&point, 4));
}

/* Finds the point of the metric with the text @job in an attribute; @is_end: the one that ends. */
static struct seen see(const struct endpoint *e, const char *name, const char *job, bool is_end)
{
	const char *text = e->text.text;
	struct seen s, found = { 0 };
	struct otlp_field record, scope, metric;

	for (size_t at = 0, n; at < e->text.used - 1; at += n) {
		n = batch_skip(text + at, e->text.used - 1 - at, 1);
		assert_true(otlp_find(&record, 1, text + at, n));
		scope = field_of(&record, 2);
		assert_true(otlp_find(&metric, 1, scope.bytes, scope.length));
		scope.length -= (size_t)(metric.bytes + metric.length - scope.bytes);
		scope.bytes = metric.bytes + metric.length;
		for (; otlp_find(&metric, 2, scope.bytes, scope.length);
		     scope.length -= (size_t)(metric.bytes + metric.length - scope.bytes),
		     scope.bytes = metric.bytes + metric.length) {
			s = (struct seen){ 0 };
			metric_see(&s, &metric, name, job);
			if (s.nr && s.is_end == is_end) {
				s.nr += found.nr;
				found = s;
			}
		}
	}
	return found;
}

#define CPU "bpfmon_job_cpu_seconds_total"
#define RSS "bpfmon_job_rss_bytes"
#define ONE "slurm/1"

static void counters_begin_when_their_job_began(void **state)
{
	struct endpoint *e = *state;
	struct seen s;

	tell_meta(e, "1", "alice", "slurm", "1001.5");
	tell_values(e, "sample", "1", 2.5, 100);
	tell_job(e, "old", 2.5);
	lines_at(e, BEGAN + 20 * SEC + 5);
	s = see(e, CPU, ONE, false);
	assert_int_equal(s.nr, 1); /* no point of zeros before it */
	assert_true(s.is_sum);
	assert_int_equal(s.start_ns, 1001500000000);
	assert_int_equal(s.time_ns, BEGAN + 20 * SEC);
	s = see(e, RSS, ONE, false);
	assert_false(s.is_sum);
	assert_int_equal(s.start_ns, 0);
	assert_int_equal(s.value, 100);
	/* also of a job that began before this program */
	assert_int_equal(see(e, CPU, "slurm/old", false).start_ns, 1500000000);
	assert_int_equal(see(e, "bpfmon_user_cpu_seconds_total", "alice", false).start_ns,
			 1001500000000);
	lines_at(e, BEGAN + 35 * SEC);
	assert_int_equal(see(e, CPU, ONE, false).start_ns, 1001500000000);
}

static void no_counter_begins_after_its_point(void **state)
{
	struct endpoint *e = *state;
	struct seen s;

	tell_meta(e, "1", "alice", "slurm", "9e9");
	tell_values(e, "sample", "1", 2.5, 100);
	lines_at(e, BEGAN + 20 * SEC);
	s = see(e, CPU, ONE, false);
	assert_int_equal(s.time_ns, BEGAN + 20 * SEC);
	assert_int_equal(s.start_ns, s.time_ns);
}

static void series_ends_a_millisecond_after_its_last_point(void **state)
{
	static const char *const names[] = { CPU, RSS, "bpfmon_job_running",
					     "bpfmon_job_start_time_seconds",
					     "bpfmon_job_stalled" };
	struct endpoint *e = *state;
	struct seen s;

	tell_meta(e, "1", "alice", "slurm", "1001.5");
	tell_values(e, "sample", "1", 2.5, 100);
	lines_at(e, BEGAN + 10 * SEC);
	assert_int_equal(see(e, CPU, ONE, true).nr, 0);
	tell_end(e, "1", "\"wall_seconds\":12.25,\"cpu_seconds\":4,\"minflt\":7");
	lines_at(e, BEGAN + 25 * SEC);
	s = see(e, "bpfmon_job_minflt_total", ONE, false);
	assert_int_equal(s.time_ns, 1013750000000);
	assert_int_equal(s.value, 7);
	assert_int_equal(s.start_ns, 1001500000000);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		s = see(e, names[i], ONE, true);
		assert_int_equal(s.nr, 1);
		assert_int_equal(s.time_ns, 1013751000000);
	}
	assert_int_equal(see(e, CPU, ONE, true).start_ns, 1001500000000);
	assert_int_equal(see(e, "bpfmon_job_majflt_total", ONE, true).nr, 0); /* it had none */
	assert_int_equal(see(e, RSS, ONE, false).nr, 0);
	pass_seconds(e, 15);
	lines_at(e, BEGAN + 40 * SEC);
	assert_int_equal(see(e, CPU, ONE, true).nr, 0);
	assert_int_equal(see(e, "bpfmon_user_cpu_seconds_total", "alice", true).nr, 0);
}

/* What it has used before stays in the common series. */
static void counters_of_a_job_that_leaves_the_common_series_begin_then(void **state)
{
	struct endpoint *e = *state;
	struct seen s;

	e->board.max_series = 1;
	tell_meta(e, "1", "alice", "slurm", "1001.5");
	tell_values(e, "sample", "1", 2.5, 100);
	tell_meta(e, "2", "alice", "slurm", "1001.5");
	tell_values(e, "sample", "2", 1, 100);
	lines_at(e, BEGAN + 10 * SEC);
	assert_int_equal(see(e, CPU, "slurm/2", false).nr, 0);
	assert_int_equal(see(e, CPU, "other", false).start_ns, 1001500000000);
	tell_end(e, "1", "\"cpu_seconds\":4");
	for (int i = 0; i < BOARD_SCRAPES + 1; i++, pass_seconds(e, 15))
		lines_at(e, BEGAN + (uint64_t)(25 + i * 15) * SEC);
	s = see(e, CPU, "slurm/2", false);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.start_ns, s.time_ns); /* now, which is later than the times here */
}

static void ended_job_is_one_record(void **state)
{
	static const char body[] =
		"{\"job\":\"slurm/1\",\"name\":\"1\",\"user\":\"alice\",\"kind\":\"slurm\","
		"\"start_time_seconds\":1.5,\"wall_seconds\":12.25,\"cpu_seconds\":4,"
		"\"complete\":0}";
	struct endpoint *e = *state;

	tell_job(e, "1", 2.5);
	tell_end(e, "1", "\"wall_seconds\":12.25,\"cpu_seconds\":4,\"complete\":false");
	tell_job(e, "2", 2.5);
	tell_end(e, "2", "\"wall_seconds\":1");
	assert_int_equal(points.nr_rows, 2);
	assert_int_equal(batch_count(points.rows.text, points.rows.used), 2);
	assert_non_null(memmem(points.rows.text, points.rows.used, body, strlen(body)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RECORDS_TEST(counters_begin_when_their_job_began),
		RECORDS_TEST(no_counter_begins_after_its_point),
		RECORDS_TEST(series_ends_a_millisecond_after_its_last_point),
		RECORDS_TEST(counters_of_a_job_that_leaves_the_common_series_begin_then),
		RECORDS_TEST(ended_job_is_one_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
