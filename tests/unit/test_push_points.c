// SPDX-License-Identifier: BSD-2-Clause
/* Lines of a board: their labels, their times, and what they lack. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "board/shown.h"
#include "push_points_fixture.h"

static void job_has_a_line_with_its_labels_as_tags(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 2.5);
	text = lines_at(e, BEGAN + 10 * SEC + 123456789);
	assert_line(text, JOB("1") " cpu_seconds_total=2.5,rss_bytes=100i,running=1i,"
				   "start_time_seconds=1.5,stalled=0i 1010123000000");
	assert_line(text, ALICE " cpu_seconds_total=2.5 1010123000000");
	assert_non_null(strstr(text, "bpfmon_agent" COMMON " up=1i,last_line_time_seconds="));
	assert_int_equal(batch_count(text, strlen(text)), 3);
}

#define IN_POD                                                                                     \
	"\"node_job\":{\"id\":\"container/"                                                        \
	"c\",\"kind\":\"container\",\"name\":\"c\",\"namespace\":\"lab\","                         \
	"\"pod\":\"align\",\"container\":\"main\"}"

static void container_has_the_names_of_its_pod_as_tags_and_in_its_row(void **state)
{
	struct endpoint *e = *state;

	tell(e,
	     "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"run-c\",\"start_time\":1," IN_POD
	     "}\n");
	tell_values(e, "sample", "c", 2.5, 100);
	assert_non_null(strstr(lines_at(e, BEGAN + 10 * SEC),
			       "bpfmon_job" COMMON
			       ",job=container/c,name=c,pod=align,container=main,"
			       "kind=container,namespace=lab cpu_seconds_total=2.5"));
	tell_end(e, "c", "\"wall_seconds\":12.25,\"cpu_seconds\":4");
	assert_non_null(strstr(rows_of(e),
			       "bpfmon_job_ended" COMMON ",kind=container,namespace=lab "
			       "job=\"container/c\",name=\"c\",pod=\"align\","
			       "container=\"main\","));
}

static void new_job_has_a_line_of_0_at_its_beginning(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_meta(e, "1", "alice", "slurm", "1001.5009");
	tell_values(e, "sample", "1", 2.5, 100);
	text = lines_at(e, BEGAN + 20 * SEC);
	assert_line(text, JOB("1") " cpu_seconds_total=0 1001500000000");
	assert_line(text, JOB("1") " cpu_seconds_total=2.5,rss_bytes=100i,running=1i,"
				   "start_time_seconds=1001.5009,stalled=0i 1020000000000");
	assert_line(text, ALICE " cpu_seconds_total=0 1005000000000");
	assert_line(text, ALICE " cpu_seconds_total=2.5 1020000000000");
	text = lines_at(e, BEGAN + 35 * SEC);
	assert_no(text, "cpu_seconds_total=0 ");
	assert_line(text, ALICE " cpu_seconds_total=2.5 1035000000000");
}

static void line_of_0_is_before_that_of_the_values(void **state)
{
	static const char *const starts[] = { "1020", "1020.0005", "1021", "9e9" };
	struct endpoint *e = *state;

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		tell_meta(e, "1", "alice", "slurm", starts[i]);
		tell_values(e, "sample", "1", 2.5, 100);
		assert_line(lines_at(e, BEGAN + 20 * SEC + 900000),
			    JOB("1") " cpu_seconds_total=0 1005000000000");
		push_remove(state);
		assert_int_equal(push_make(state), 0);
		e = *state;
	}
}

static void last_line_of_a_job_is_of_its_end(void **state)
{
	struct endpoint *e = *state;

	tell_meta(e, "1", "alice", "slurm", "1001.5");
	tell_values(e, "sample", "1", 2.5, 100);
	lines_at(e, BEGAN + 10 * SEC);
	tell_end(e, "1", "\"wall_seconds\":12.25,\"cpu_seconds\":4");
	assert_line(lines_at(e, BEGAN + 25 * SEC),
		    JOB("1") " cpu_seconds_total=4,running=0i 1013750000000");
	pass_seconds(e, 15);
	assert_no(lines_at(e, BEGAN + 40 * SEC), JOB("1"));
	assert_line(e->text.text, ALICE " cpu_seconds_total=4 1040000000000");
	pass_seconds(e, 15);
	assert_no(lines_at(e, BEGAN + 55 * SEC), JOB("1"));
	assert_int_equal(e->board.nr_own, 0);
}

/* An end that is unknown, that was before the last line or is yet to come gives no time. */
static void last_line_is_after_all_others(void **state)
{
	static const char *const ends[] = { "\"cpu_seconds\":4",
					    "\"cpu_seconds\":4,\"wall_seconds\":2",
					    "\"cpu_seconds\":4,\"wall_seconds\":8.5",
					    "\"cpu_seconds\":4,\"wall_seconds\":1e9" };
	struct endpoint *e = *state;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		tell_meta(e, "1", "alice", "slurm", "1001.5");
		tell_values(e, "sample", "1", 2.5, 100);
		lines_at(e, BEGAN + 10 * SEC);
		tell_end(e, "1", ends[i]);
		assert_line(lines_at(e, BEGAN + 25 * SEC),
			    JOB("1") " cpu_seconds_total=4,running=0i 1025000000000");
		push_remove(state);
		assert_int_equal(push_make(state), 0);
		e = *state;
	}
}

static void clock_that_is_set_is_followed(void **state)
{
	static const uint64_t at[] = { 86400, 0, 86410, 10 }; /* after BEGAN, in s */
	struct endpoint *e = *state;
	char wanted[64];

	tell_job(e, "1", 2.5);
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		snprintf(wanted, sizeof(wanted), " %llu\n",
			 (unsigned long long)(BEGAN + at[i] * SEC));
		assert_non_null(strstr(strstr(lines_at(e, BEGAN + at[i] * SEC), JOB("1")), wanted));
	}
	tell_end(e, "1", "\"cpu_seconds\":4,\"wall_seconds\":5");
	assert_line(lines_at(e, BEGAN + 25 * SEC),
		    JOB("1") " cpu_seconds_total=4,running=0i 1025000000000");
}

static void jobs_that_end_with_the_agent_have_their_last_line(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_meta(e, "1", "alice", "slurm", "1001.5");
	tell_values(e, "sample", "1", 2.5, 100);
	tell_meta(e, "2", "alice", "slurm", "1001.5");
	tell_values(e, "sample", "2", 1, 100);
	lines_at(e, BEGAN + 10 * SEC);
	tell_end(e, "1", "\"wall_seconds\":12.25,\"cpu_seconds\":4");
	board_disconnect(&e->board, e->now_ns);
	text = lines_at(e, BEGAN + 25 * SEC);
	assert_non_null(strstr(text, "bpfmon_agent" COMMON " up=0i,"));
	assert_line(text, JOB("1") " cpu_seconds_total=4,running=0i 1013750000000");
	assert_no(text, JOB("2")); /* it may run or not */
	assert_no(text, ALICE);
	text = lines_at(e, BEGAN + 40 * SEC);
	assert_no(text, "bpfmon_job");
}

static void series_that_begins_as_the_agent_goes_has_its_line_of_0(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_meta(e, "1", "alice", "slurm", "1001.5");
	tell_values(e, "sample", "1", 2.5, 100);
	board_disconnect(&e->board, e->now_ns);
	text = lines_at(e, BEGAN + 20 * SEC);
	assert_line(text, JOB("1") " cpu_seconds_total=0 1005000000000");
	assert_line(text, ALICE " cpu_seconds_total=0 1005000000000");
	assert_no(text, "cpu_seconds_total=2.5");
	board_connect(&e->board, e->now_ns);
	tell_meta(e, "1", "alice", "slurm", "1001.5");
	text = lines_at(e, BEGAN + 35 * SEC);
	assert_no(text, "cpu_seconds_total=0 ");
	assert_line(text, ALICE " cpu_seconds_total=2.5 1035000000000");
}

static void what_ended_without_a_series_is_in_other(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_meta(e, "1", "alice", "slurm", "1");
	tell_values(e, "summary", "1", 0.25, 5);
	text = lines_at(e, BEGAN + 10 * SEC);
	assert_line(text, "bpfmon_job" COMMON
			  ",job=other,kind=other cpu_seconds_total=0.25 1010000000000");
	assert_no(text, "job=slurm/1");
}

static void young_jobs_have_no_series(void **state)
{
	struct endpoint *e = *state;

	style.least_ns = 15 * SEC;
	tell_job(e, "1", 2.5); /* 1 s old */
	assert_no(lines_at(e, BEGAN + 10 * SEC), "bpfmon_job");
	tell(e, "{\"kind\":\"sample\",\"run\":\"run-1\",\"elapsed_seconds\":15,"
		"\"cpu_seconds\":4}\n");
	assert_non_null(strstr(lines_at(e, BEGAN + 25 * SEC), JOB("1") " cpu_seconds_total=4,"));
}

static void ended_job_has_a_row_of_two_lines(void **state)
{
	struct endpoint *e = *state;
	unsigned long long at;
	char wanted[1024];
	const char *text;

	tell_job(e, "1", 2.5);
	tell_end(e, "1", "\"wall_seconds\":12.25,\"cpu_seconds\":4,\"complete\":false");
	assert_int_equal(points.nr_rows, 1);
	text = rows_of(e);
	/* within a tenth of a second of its end */
	at = strtoull(memrchr(text, ' ', strcspn(text, "\n")), NULL, 10);
	assert_in_range(at, 13700000000, 13799999999);
	snprintf(wanted, sizeof(wanted),
		 ENDED " job=\"slurm/1\",name=\"1\",start_time_seconds=1.5,wall_seconds=12.25,"
		       "cpu_seconds=4,complete=0i %llu\n"
		       "bpfmon_job_ended" COMMON ",job=slurm/1,name=1,user=alice,kind=slurm "
		       "start_time_seconds=1.5,wall_seconds=12.25,cpu_seconds=4,complete=0i "
		       "%llu\n",
		 at, at);
	assert_string_equal(text, wanted);
	lines_at(e, BEGAN);
	assert_string_equal(rows_of(e), "");
}

static void jobs_that_end_together_have_times_of_their_own(void **state)
{
	struct endpoint *e = *state;
	unsigned long long seen[12];
	const char *at;
	char name[8];

	for (int i = 0; i < 6; i++) { /* each ends twice, as if it had been read again */
		snprintf(name, sizeof(name), "%d", i % 3);
		tell_meta(e, name, "alice", "slurm", "1.5");
		tell_end(e, name, "\"wall_seconds\":1");
	}
	at = rows_of(e);
	for (int i = 0; i < 12; i++, at = strchr(at, '\n') + 1) {
		seen[i] = strtoull(memrchr(at, ' ', strcspn(at, "\n")), NULL, 10);
		assert_in_range(seen[i], 2500000000, 2599999999);
		for (int other = 0; other < i; other++)
			assert_int_equal(seen[i] == seen[other], i / 2 % 3 == other / 2 % 3);
	}
	assert_int_equal(*at, '\0');
}

static void node_and_the_rest_have_no_rows(void **state)
{
	struct endpoint *e = *state;

	tell_meta(e, "node", "", "node", "1");
	tell_end(e, "node", "\"wall_seconds\":1");
	tell_meta(e, "o", "", "other", "1");
	tell_end(e, "o", "\"wall_seconds\":1");
	assert_int_equal(points.nr_rows, 0);
	assert_string_equal(rows_of(e), "");
}

static void characters_of_labels_are_escaped(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell(e, "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"run-1\",\"start_time\":1,"
		"\"node_job\":{\"id\":\"a b,c=d\",\"kind\":\"slurm\",\"user\":\"alice\","
		"\"account\":\"l b\",\"partition\":\"p\","
		"\"name\":\"\\\"q\\\" \\\\ \\n\\t\\u001b[2J\\u00e4\\u202e.\\\\\"}}\n");
	tell_values(e, "sample", "1", 2.5, 100);
	text = lines_at(e, BEGAN);
	assert_non_null(strstr(text, "bpfmon_job" COMMON ",job=a\\ b\\,c\\=d,"
				     "name=\"q\"\\ /\\ \\ \\ \\ [2J\xc3\xa4\\ ./,"
				     "user=alice,kind=slurm,account=l\\ b,partition=p cpu"));
	tell_end(e, "1", "\"wall_seconds\":1");
	text = rows_of(e);
	assert_non_null(strstr(
		text, ENDED ",account=l\\ b,partition=p job=\"a b,c=d\",name=\"\\\"q\\\" \\\\   "));
	assert_int_equal(batch_count(text, strlen(text)), 2);
	for (const char *c = text; *c; c++)
		assert_true(*c == '\n' || (unsigned char)*c >= ' ');
}

static void labels_that_are_all_empty_are_unknown(void **state)
{
	struct endpoint *e = *state;

	tell(e, "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"run-1\",\"start_time\":1,"
		"\"node_job\":{}}\n");
	tell_values(e, "sample", "1", 2.5, 100);
	assert_non_null(strstr(lines_at(e, BEGAN), "bpfmon_job" COMMON ",kind=unknown cpu"));
	assert_line(e->text.text,
		    "bpfmon_user" COMMON ",kind=unknown cpu_seconds_total=2.5 1000000000000");
}

static void tags_of_the_configuration_are_in_each_line(void **state)
{
	struct endpoint *e = *state;

	points_done(&points);
	assert_int_equal(points_init(&points, "", "  cluster=alpha rack=7,b  x=a=b ", "core",
				     INTERVAL, DIALECT_INFLUXDB),
			 0);
	tell_job(e, "1", 2.5);
	assert_line(lines_at(e, BEGAN),
		    "bpfmon_user,cluster=alpha,rack=7\\,b,x=a\\=b,user=alice,kind=slurm "
		    "cpu_seconds_total=2.5 1000000000000");
	points_done(&points);
	assert_int_equal(points_init(&points, "", "", "core", INTERVAL, DIALECT_INFLUXDB), 0);
	assert_line(lines_at(e, BEGAN), "bpfmon_user,user=alice,kind=slurm cpu_seconds_total=2.5 "
					"1000000000000");
}

static void number_that_no_integer_holds_is_left_out(void **state)
{
	struct endpoint *e = *state;

	tell_meta(e, "1", "alice", "slurm", "1.5");
	tell_values(e, "sample", "1", 2.5, INT64_MAX);
	assert_non_null(strstr(lines_at(e, BEGAN), ",rss_bytes=9223372036854775807i,"));
	tell(e, "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"second\",\"start_time\":2,"
		"\"node_job\":{\"id\":\"slurm/1\",\"kind\":\"slurm\",\"name\":\"1\","
		"\"user\":\"alice\"}}\n");
	tell(e, "{\"kind\":\"sample\",\"run\":\"second\",\"rss_bytes\":1}\n");
	assert_no(lines_at(e, BEGAN + SEC), "rss_bytes");
}

static unsigned metric_set_count(const struct metric_set *set)
{
	unsigned n = 0;

	for (int i = 0; i < NR_METRICS; i++)
		n += metric_has(set, (enum metric_id)i);
	return n;
}

static void sets_of_metrics_contain_each_other(void **state)
{
	static const char *const core[] = { "cpu_seconds",
					    "runqueue_wait_seconds",
					    "rss_bytes",
					    "rss_anon_bytes",
					    "swap_bytes",
					    "processes",
					    "threads",
					    "majflt",
					    "read_bytes",
					    "write_bytes",
					    "rchar_bytes",
					    "wchar_bytes",
					    "cgroup_memory_bytes",
					    "cgroup_oom_kills",
					    "gpu_seconds",
					    "gpus_held",
					    "gpus_idle",
					    "gpu_memory_bytes",
					    "gpu_xid_errors" };
	struct metric_set sets[3];
	static const char *const words[] = { "core", "more", "all" };
	size_t of_hardware = 0;
	enum metric_id id;

	(void)state;
	for (int i = 0; i < 3; i++) {
		points_done(&points);
		assert_int_equal(
			points_init(&points, "n1", "", words[i], INTERVAL, DIALECT_INFLUXDB), 0);
		sets[i] = points.metrics;
	}
	for (size_t i = 0; i < sizeof(core) / sizeof(*core); i++) {
		assert_int_equal(metric_find(core[i], strlen(core[i]), &id), 0);
		assert_true(metric_has(&sets[0], id));
	}
	assert_int_equal(metric_set_count(&sets[0]), sizeof(core) / sizeof(*core));
	for (int i = 0; i < NR_METRICS; i++) {
		assert_true(!metric_has(&sets[0], (enum metric_id)i) ||
			    metric_has(&sets[1], (enum metric_id)i));
		assert_true(metric_has(&sets[2], (enum metric_id)i));
		of_hardware +=
			metric_source_get(metric_get((enum metric_id)i)->source)->of_hardware;
	}
	/* "about 45, and of GPUs and energy" */
	assert_in_range(metric_set_count(&sets[1]) + NR_JOB_STATES - of_hardware, 40, 50);
}

static void only_chosen_metrics_are_in_the_lines(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	points_done(&points);
	assert_int_equal(
		points_init(&points, "n1", "cluster=alpha", "core", INTERVAL, DIALECT_INFLUXDB), 0);
	tell_meta(e, "1", "alice", "slurm", "1.5");
	tell_all_metrics(e, "sample", "1");
	text = lines_at(e, BEGAN);
	assert_no(text, "minflt");
	assert_non_null(strstr(text, ",majflt_total="));
	assert_non_null(strstr(text, ",cgroup_oom_kills_total="));
}

static void own_counters_have_a_line(void **state)
{
	const struct push_counts counts = { .samples = 5, .waiting_seconds = 1500000000 };
	struct endpoint *e = *state;

	tell(e, "no line\n");
	e->text.used = 0;
	points_put_own(&points, &e->text, &e->board, &counts, BEGAN + 1);
	buffer_put(&e->text, "", 1);
	if (e->text.failed || !e->text.text)
		abort();
	assert_ptr_equal(strstr(e->text.text, "bpfmon_push" COMMON " samples_total=5i,"),
			 e->text.text);
	assert_non_null(strstr(e->text.text, ",waiting_seconds=1.5,misconfigured=0i,"));
	assert_non_null(strstr(e->text.text, ",lines_total=1i,lines_refused_total=1i,"));
	assert_no(e->text.text, "ended_dropped");
	assert_non_null(strstr(e->text.text, "i 1000000000000\n"));
	assert_int_equal(batch_count(e->text.text, strlen(e->text.text)), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUSH_TEST(job_has_a_line_with_its_labels_as_tags),
		PUSH_TEST(container_has_the_names_of_its_pod_as_tags_and_in_its_row),
		PUSH_TEST(new_job_has_a_line_of_0_at_its_beginning),
		PUSH_TEST(line_of_0_is_before_that_of_the_values),
		PUSH_TEST(last_line_of_a_job_is_of_its_end),
		PUSH_TEST(last_line_is_after_all_others),
		PUSH_TEST(clock_that_is_set_is_followed),
		PUSH_TEST(jobs_that_end_with_the_agent_have_their_last_line),
		PUSH_TEST(series_that_begins_as_the_agent_goes_has_its_line_of_0),
		PUSH_TEST(what_ended_without_a_series_is_in_other),
		PUSH_TEST(young_jobs_have_no_series),
		PUSH_TEST(ended_job_has_a_row_of_two_lines),
		PUSH_TEST(jobs_that_end_together_have_times_of_their_own),
		PUSH_TEST(node_and_the_rest_have_no_rows),
		PUSH_TEST(characters_of_labels_are_escaped),
		PUSH_TEST(labels_that_are_all_empty_are_unknown),
		PUSH_TEST(tags_of_the_configuration_are_in_each_line),
		PUSH_TEST(number_that_no_integer_holds_is_left_out),
		PUSH_TEST(sets_of_metrics_contain_each_other),
		PUSH_TEST(only_chosen_metrics_are_in_the_lines),
		PUSH_TEST(own_counters_have_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
