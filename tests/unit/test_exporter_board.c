// SPDX-License-Identifier: BSD-2-Clause
/* What the endpoint shows of the agent's lines: labels, sums, totals that never fall, and when
 * series come and go. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "exporter_fixture.h"

#define JOB(name) "{job=\"slurm/" name "\",user=\"alice\",kind=\"slurm\",name=\"" name "\"}"
#define CPU(name) "bpfmon_job_cpu_seconds_total" JOB(name)
#define RSS(name) "bpfmon_job_rss_bytes" JOB(name)
#define ALICE "bpfmon_user_cpu_seconds_total{user=\"alice\",kind=\"slurm\"}"
#define OTHER "bpfmon_job_cpu_seconds_total{job=\"other\",kind=\"other\"}"
#define ENDED(key, name) "bpfmon_job_ended_" key JOB(name)
#define LATER "9e9" /* a start after that of the exporter */

static void assert_line(const char *text, const char *line)
{
	if (!has_line(text, line))
		fail_msg("no line\n%s\nin\n%s", line, text);
}

static void assert_no(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("there is\n%s\nin\n%s", part, text);
}

static void job_has_its_counters_and_gauges(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 2.5);
	text = scrape(e);
	assert_line(text, CPU("1") " 2.5");
	assert_line(text, RSS("1") " 100");
	assert_line(text, ALICE " 2.5");
	assert_no(text, "bpfmon_user_rss");
	assert_no(text, "bpfmon_job_host_memory"); /* of the machine */
}

#define POD_JOB                                                                                    \
	"{job=\"container/c\",kind=\"container\",name=\"c\",namespace=\"lab\",pod=\"align\","      \
	"container=\"main\",nested=\"yes\"}"

static void tell_container(struct endpoint *e, const char *names, const char *limits)
{
	char line[1024];

	snprintf(line, sizeof(line),
		 "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"c\",\"start_time\":1.5,"
		 "\"interval_seconds\":1,\"node_job\":{\"id\":\"container/c\",\"kind\":"
		 "\"container\",\"name\":\"c\",\"nested\":true%s}%s}\n",
		 names, limits);
	tell(e, line);
}

static void tell_cpu_at(struct endpoint *e, unsigned seconds)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "{\"kind\":\"sample\",\"run\":\"c\",\"elapsed_seconds\":%u,\"cpu_seconds\":%u}\n",
		 seconds, seconds);
	tell(e, line);
}

/* The kubelet makes the name of a container after its first process. */
static void series_of_a_container_waits_for_the_names_of_its_pod(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_container(e, "", "");
	tell_cpu_at(e, 1);
	assert_no(scrape(e), "bpfmon_job_");
	tell_container(e,
		       ",\"namespace\":\"lab\",\"pod\":\"align\",\"container\":\"main\",\"cpu_"
		       "request_cores\":0.1",
		       ",\"limits\":{\"memory_max_bytes\":4096,\"cpu_max_cores\":0.25}");
	tell_cpu_at(e, 2);
	text = scrape(e);
	assert_line(text, "bpfmon_job_cpu_seconds_total" POD_JOB " 2");
	assert_line(text, "bpfmon_job_memory_limit_bytes" POD_JOB " 4096");
	assert_line(text, "bpfmon_job_cpu_limit_cores" POD_JOB " 0.25");
	assert_line(text, "bpfmon_job_cpu_request_cores" POD_JOB " 0.1");
	/* labels of a series stay */
	tell_container(e, "", "");
	tell_cpu_at(e, 3);
	assert_line(scrape(e), "bpfmon_job_cpu_seconds_total" POD_JOB " 3");
}

static void container_outside_of_pods_has_a_series_without_their_names(void **state)
{
	struct endpoint *e = *state;

	tell_container(e, "", "");
	tell_cpu_at(e, BOARD_NAMING_INTERVALS - 1);
	assert_no(scrape(e), "bpfmon_job_");
	tell_cpu_at(e, BOARD_NAMING_INTERVALS);
	assert_line(scrape(e),
		    "bpfmon_job_cpu_seconds_total{job=\"container/c\",kind=\"container\","
		    "name=\"c\",nested=\"yes\"} 6");
}

static void node_has_no_labels_and_the_pressure_of_the_machine(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_meta(e, "node", "", "node", "1");
	tell_values(e, "sample", "node", 7, 900);
	text = scrape(e);
	assert_line(text, "bpfmon_node_cpu_seconds_total 7");
	assert_line(text, "bpfmon_node_rss_bytes 900");
	assert_line(text, "bpfmon_node_host_memory_pressure_some_seconds_total 1");
	assert_no(text, "bpfmon_job_");
	assert_no(text, "bpfmon_user_");
}

static void runs_with_the_same_labels_are_summed(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 2);
	tell(e, "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"second\",\"start_time\":2,"
		"\"node_job\":{\"id\":\"slurm/"
		"1\",\"kind\":\"slurm\",\"name\":\"1\",\"user\":\"alice\"}}\n");
	tell(e, "{\"kind\":\"sample\",\"run\":\"second\",\"cpu_seconds\":3,\"rss_bytes\":11}\n");
	text = scrape(e);
	assert_line(text, CPU("1") " 5");
	assert_line(text, RSS("1") " 111");
	assert_line(text, ALICE " 5");
}

static void job_that_no_scrape_sees_is_in_all_totals_and_has_no_series(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_meta(e, "short", "alice", "slurm", "1");
	tell_values(e, "summary", "short", 0.25, 5);
	text = scrape(e);
	assert_line(text, ENDED("cpu_seconds", "short") " 0.25");
	assert_line(text, OTHER " 0.25");
	assert_line(text, ALICE " 0.25");
	assert_no(text, CPU("short"));
	assert_no(text, RSS("short"));
}

static void counters_of_a_new_job_start_at_0(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_meta(e, "1", "alice", "slurm", LATER);
	tell_values(e, "sample", "1", 2.5, 100);
	text = scrape(e);
	assert_line(text, CPU("1") " 0");
	assert_line(text, RSS("1") " 100");
	assert_line(text, ALICE " 0");
	text = scrape(e);
	assert_line(text, CPU("1") " 2.5");
	assert_line(text, ALICE " 2.5");
	/* one that ends before the next scrape has its total there */
	tell_meta(e, "2", "alice", "slurm", LATER);
	tell_values(e, "sample", "2", 1, 100);
	assert_line(scrape(e), CPU("2") " 0");
	tell_values(e, "summary", "2", 4, 0);
	text = scrape(e);
	assert_line(text, CPU("2") " 4");
	assert_line(text, ALICE " 6.5");
}

static void job_runs_until_its_end(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 5);
	text = scrape(e);
	assert_line(text, "bpfmon_job_running" JOB("1") " 1");
	assert_line(text, "bpfmon_job_start_time_seconds" JOB("1") " 1.5");
	tell_values(e, "summary", "1", 6, 0);
	text = scrape(e);
	assert_line(text, "bpfmon_job_running" JOB("1") " 0");
	assert_no(text, "bpfmon_job_start_time_seconds" JOB("1"));
}

static void ended_job_has_the_figures_of_its_summary(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 5);
	tell(e, "{\"kind\":\"summary\",\"run\":\"run-1\",\"complete\":true,\"wall_seconds\":7.5,"
		"\"cpu_seconds\":6,\"memory_needed_bytes\":4096,\"processes_total\":3,"
		"\"oom_kills\":0,\"rss_peak_bytes\":\"x\"}\n");
	text = scrape(e);
	assert_line(text, ENDED("start_time_seconds", "1") " 1.5");
	assert_line(text, ENDED("wall_seconds", "1") " 7.5");
	assert_line(text, ENDED("cpu_seconds", "1") " 6");
	assert_line(text, ENDED("memory_needed_bytes", "1") " 4096");
	assert_line(text, ENDED("processes", "1") " 3");
	assert_line(text, ENDED("oom_kills", "1") " 0");
	assert_line(text, ENDED("complete", "1") " 1");
	assert_no(text, "bpfmon_job_ended_rss"); /* not read */
	assert_no(text, "bpfmon_job_ended_user");
	pass_seconds(e, 301);
	assert_line(scrape(e), ENDED("wall_seconds", "1") " 7.5");
	assert_no(scrape(e), "bpfmon_job_ended");
}

static void ended_jobs_are_bounded_and_the_oldest_goes_first(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	struct endpoint *e = *state;
	const char *text;

	for (int i = 0; i < 3; i++) {
		tell_meta(e, names[i], "alice", "slurm", "1");
		tell_values(e, "summary", names[i], i + 1, 0);
	}
	text = scrape(e);
	assert_no(text, ENDED("cpu_seconds", "a"));
	assert_line(text, ENDED("cpu_seconds", "b") " 2");
	assert_line(text, ENDED("cpu_seconds", "c") " 3");
	assert_line(text, "bpfmon_exporter_ended_dropped_total 1");
	/* the same labels again replace themselves */
	tell_meta(e, "b", "alice", "slurm", "5");
	tell_values(e, "summary", "b", 9, 0);
	text = scrape(e);
	assert_line(text, ENDED("cpu_seconds", "b") " 9");
	assert_line(text, ENDED("cpu_seconds", "c") " 3");
	assert_line(text, "bpfmon_exporter_ended_dropped_total 1");
}

static void agent_that_is_silent_is_not_up(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 5);
	pass_seconds(e, 90);
	text = scrape(e);
	assert_line(text, "bpfmon_agent_up 1");
	assert_line(text, RSS("1") " 100");
	pass_seconds(e, 1);
	text = scrape(e);
	assert_line(text, "bpfmon_agent_up 0");
	assert_line(text, CPU("1") " 5");
	assert_no(text, RSS("1"));
	assert_non_null(strstr(text, "bpfmon_agent_last_line_time_seconds"));
	tell(e, "x\n"); /* no line of an agent */
	assert_line(scrape(e), "bpfmon_agent_up 0");
	tell_values(e, "sample", "1", 6, 70);
	text = scrape(e);
	assert_line(text, "bpfmon_agent_up 1");
	assert_line(text, RSS("1") " 70");
}

static void value_that_falls_adds_nothing(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 5);
	tell_values(e, "sample", "1", 3, 1);
	text = scrape(e);
	assert_line(text, CPU("1") " 5");
	assert_line(text, ALICE " 5");
	tell_values(e, "sample", "1", 6, 1);
	text = scrape(e);
	assert_line(text, CPU("1") " 6");
	assert_line(text, ALICE " 6");
}

static void restarted_job_counts_on(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 5);
	scrape(e);
	tell_values(e, "summary", "1", 6, 0);
	tell_meta(e, "1", "alice", "slurm", "9"); /* the same run key, another start */
	tell_values(e, "sample", "1", 1, 50);
	text = scrape(e);
	assert_line(text, CPU("1") " 7");
	assert_line(text, RSS("1") " 50");
	assert_line(text, ALICE " 7");
}

static void ended_job_stays_for_two_scrapes_and_for_a_time(void **state)
{
	struct endpoint *e = *state;

	tell_job(e, "1", 5);
	scrape(e);
	tell_values(e, "summary", "1", 6, 0);
	pass_seconds(e, 1000); /* nobody has seen its end */
	assert_line(scrape(e), CPU("1") " 6");
	assert_line(scrape(e), CPU("1") " 6");
	assert_no(scrape(e), CPU("1"));
	assert_line(scrape(e), ALICE " 6"); /* for good */
}

static void ended_job_stays_while_it_is_recent(void **state)
{
	struct endpoint *e = *state;

	tell_job(e, "1", 5);
	scrape(e);
	tell_values(e, "summary", "1", 6, 0);
	for (int i = 0; i < 10; i++)
		assert_line(scrape(e), CPU("1") " 6");
	pass_seconds(e, 299);
	assert_line(scrape(e), CPU("1") " 6");
	pass_seconds(e, 2);
	assert_no(scrape(e), CPU("1"));
}

static void largest_jobs_have_series_and_the_rest_are_other(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "small", 1);
	tell_job(e, "large", 30);
	tell_job(e, "middle", 20);
	tell_job(e, "tiny", 0.5);
	text = scrape(e);
	assert_line(text, CPU("large") " 30");
	assert_line(text, CPU("middle") " 20");
	assert_line(text, OTHER " 1.5");
	assert_line(text, "bpfmon_job_rss_bytes{job=\"other\",kind=\"other\"} 200");
	assert_line(text, ALICE " 51.5");
	assert_line(text, "bpfmon_exporter_jobs_summed_total 2");
	assert_no(text, "slurm/small");
}

static void jobs_are_not_decided_before_their_first_sample(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	struct endpoint *e = *state;
	const char *text;

	for (int i = 0; i < 3; i++)
		tell_meta(e, names[i], "alice", "slurm", "1");
	scrape(e);
	for (int i = 0; i < 3; i++)
		tell_values(e, "sample", names[i], 10 * (i + 1), 0);
	text = scrape(e);
	assert_line(text, CPU("c") " 30");
	assert_line(text, CPU("b") " 20");
	assert_line(text, OTHER " 10");
}

static void job_gets_its_own_series_when_there_is_room_again(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "a", 1);
	tell_job(e, "b", 1);
	scrape(e);
	tell_job(e, "late", 100);
	assert_line(scrape(e), OTHER " 100");
	/* the end of "a" is scraped twice before its series is replaced */
	tell_values(e, "summary", "a", 2, 0);
	assert_line(scrape(e), CPU("a") " 2");
	assert_line(scrape(e), CPU("a") " 2");
	tell_values(e, "sample", "late", 150, 0);
	text = scrape(e);
	assert_no(text, CPU("a"));
	assert_line(text, CPU("late") " 0");
	assert_line(text, OTHER " 150"); /* its past */
	assert_line(text, "bpfmon_exporter_jobs_promoted_total 1");
	tell_values(e, "sample", "late", 160, 0);
	text = scrape(e);
	assert_line(text, CPU("late") " 10");
	assert_line(text, OTHER " 150");
	assert_line(text, ALICE " 163");
	/* the sum of the rest stays when its jobs have ended */
	tell_values(e, "summary", "late", 170, 0);
	for (int i = 0; i < 5; i++, pass_seconds(e, 1000))
		assert_line(scrape(e), OTHER " 150");
}

static void many_short_jobs_leave_room_for_a_long_one(void **state)
{
	struct endpoint *e = *state;
	char name[16];

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "%d", i);
		tell_job(e, name, 1);
		if (i % 2)
			scrape(e);
		tell_values(e, "summary", name, 2, 0);
	}
	tell_job(e, "long", 3);
	scrape(e);
	scrape(e);
	scrape(e); /* the last short ones were scraped twice after their end */
	tell_values(e, "sample", "long", 5, 0);
	assert_non_null(strstr(scrape(e), CPU("long")));
}

static void what_belongs_to_no_rule_has_the_series_of_the_rest(void **state)
{
	struct endpoint *e = *state;

	tell_meta(e, "other", "", "other", "1");
	tell_values(e, "sample", "other", 4, 1);
	tell_job(e, "a", 10);
	tell_job(e, "b", 9);
	tell_job(e, "c", 1);
	assert_line(scrape(e), OTHER " 5");
}

static void jobs_within_jobs_are_marked_and_apart(void **state)
{
	static const char *const names[] = { "0", "1", "2" };
	struct endpoint *e = *state;
	const char *text;
	char line[512];

	tell_job(e, "a", 10);
	for (int i = 0; i < 3; i++) {
		snprintf(line, sizeof(line),
			 "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"run-%s\","
			 "\"start_time\":1,\"node_job\":{\"id\":\"slurm/a.%s\",\"kind\":"
			 "\"slurm-step\",\"name\":\"a.%s\",\"user\":\"alice\",\"nested\":true,"
			 "\"account\":\"lab\",\"partition\":\"short\"}}\n",
			 names[i], names[i], names[i]);
		tell(e, line);
		tell_values(e, "sample", names[i], i + 1, 1);
	}
	text = scrape(e);
	assert_line(text, CPU("a") " 10");
	assert_line(text, "bpfmon_job_cpu_seconds_total{job=\"slurm/a.2\",user=\"alice\","
			  "kind=\"slurm-step\",name=\"a.2\",account=\"lab\",partition=\"short\","
			  "nested=\"yes\"} 3");
	assert_line(text, "bpfmon_job_cpu_seconds_total{job=\"other\",kind=\"other\","
			  "nested=\"yes\"} 3");
	assert_no(text, OTHER);
	assert_line(text, "bpfmon_user_cpu_seconds_total{user=\"alice\",kind=\"slurm-step\","
			  "nested=\"yes\"} 6");
	assert_line(text, ALICE " 10");
}

static void totals_stay_over_a_stream_that_ends_and_comes_again(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 5);
	tell_job(e, "2", 7);
	board_disconnect(&e->board, e->now_ns);
	text = scrape(e);
	assert_line(text, "bpfmon_agent_up 0");
	assert_line(text, CPU("1") " 5");
	assert_no(text, RSS("1")); /* not known */
	pass_seconds(e, 10000);    /* however long it takes */
	board_connect(&e->board, e->now_ns);
	tell_meta(e, "1", "alice", "slurm", "1.5"); /* the same run */
	tell_values(e, "sample", "1", 6, 70);
	text = scrape(e);
	assert_line(text, "bpfmon_agent_up 1");
	assert_line(text, CPU("1") " 6");
	assert_line(text, RSS("1") " 70");
	assert_line(text, CPU("2") " 7");
	assert_line(text, ALICE " 13");
}

static void restarted_agent_adds_to_the_totals(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_meta(e, "node", "", "node", "1");
	tell_values(e, "sample", "node", 50, 1);
	tell_job(e, "1", 5);
	board_disconnect(&e->board, e->now_ns);
	board_connect(&e->board, e->now_ns);
	tell_meta(e, "node", "", "node", "60");
	tell_values(e, "sample", "node", 2, 1);
	tell(e, "{\"kind\":\"meta\",\"schema\":\"bpfmon/"
		"1\",\"run\":\"again\",\"start_time\":60,\"readopted\":true,"
		"\"node_job\":{\"id\":\"slurm/"
		"1\",\"kind\":\"slurm\",\"name\":\"1\",\"user\":\"alice\"}}\n");
	tell(e, "{\"kind\":\"sample\",\"run\":\"again\",\"cpu_seconds\":1,\"rss_bytes\":9}\n");
	text = scrape(e);
	assert_line(text, "bpfmon_node_cpu_seconds_total 52");
	assert_line(text, CPU("1") " 6");
	assert_line(text, RSS("1") " 9");
	assert_line(text, ALICE " 6");
}

/* Time in which the agent sends lines about itself. */
static void pass_seconds_heard(struct endpoint *e, uint64_t seconds)
{
	for (uint64_t i = 0; i < seconds; i++) {
		pass_seconds(e, 1);
		tell(e, "{\"kind\":\"agent\",\"run\":\"agent\",\"time\":1}\n");
	}
}

static void job_whose_end_was_not_heard_goes_when_it_stays_silent(void **state)
{
	struct endpoint *e = *state;

	tell_job(e, "1", 5);
	board_disconnect(&e->board, e->now_ns);
	pass_seconds(e, 1000);
	board_connect(&e->board, e->now_ns);
	for (int i = 0; i < 3; i++)
		assert_line(scrape(e), CPU("1") " 5");
	pass_seconds_heard(e, 301); /* it ends, */
	for (int i = 0; i < 3; i++)
		assert_line(scrape(e), CPU("1") " 5");
	pass_seconds_heard(e, 301); /* and goes */
	assert_no(scrape(e), CPU("1"));
	assert_line(scrape(e), ALICE " 5");
}

static void lines_of_unknown_runs_and_garbage_are_counted(void **state)
{
	static const char *const lines[] = {
		"\n",
		"x\n",
		"[]\n",
		"{\"kind\":\"sample\",\"run\":\"nobody\",\"cpu_seconds\":1}\n",
		"{\"kind\":\"meta\",\"run\":\"r\",\"node_job\":{\"id\":\"a\"}}\n", /* of another
										    * schema
										    */
		"{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"r\"}\n",
		"{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":5,\"node_job\":{}}\n",
		"{\"kind\":\"summary\",\"cpu_seconds\":1}\n",
	};
	struct endpoint *e = *state;
	const char *text;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		tell(e, lines[i]);
	tell(e, "{\"kind\":\"process\",\"run\":\"nobody\"}\n"); /* of no interest */
	text = scrape(e);
	assert_line(text, "bpfmon_exporter_lines_total 9");
	assert_line(text, "bpfmon_exporter_lines_refused_total 8");
	assert_no(text, "bpfmon_job");
}

static void jobs_that_are_not_scraped_are_bounded_and_none_is_lost(void **state)
{
	struct endpoint *e = *state;
	const char *text;
	char name[16];

	for (int i = 0; i < BOARD_WAITING + 10; i++) {
		snprintf(name, sizeof(name), "%d", i);
		tell_meta(e, name, "alice", "slurm", "1");
		tell_values(e, "summary", name, 1, 0);
	}
	assert_int_equal(e->board.nr_waiting, 9);
	text = scrape(e);
	assert_line(text, ALICE " 4106");
	assert_line(text, OTHER " 4106"); /* none lived until a scrape */
}

static void too_many_live_runs_are_refused_and_counted(void **state)
{
	struct endpoint *e = *state;
	char name[16];

	for (int i = 0; i < BOARD_RUNS + 3; i++) {
		snprintf(name, sizeof(name), "%d", i);
		tell_meta(e, name, "alice", "slurm", "1");
	}
	assert_line(scrape(e), "bpfmon_exporter_runs_refused_total 3");
}

static void sums_stay_at_their_limit(void **state)
{
	struct endpoint *e = *state;

	tell_meta(e, "1", "alice", "slurm", "1");
	tell_values(e, "sample", "1", 1e10, 0);
	tell_meta(e, "2", "alice", "slurm", "1");
	tell_values(e, "sample", "2", 1e10, 0);
	assert_line(scrape(e), ALICE " 18446744073.709551615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENDPOINT_TEST(job_has_its_counters_and_gauges),
		ENDPOINT_TEST(series_of_a_container_waits_for_the_names_of_its_pod),
		ENDPOINT_TEST(container_outside_of_pods_has_a_series_without_their_names),
		ENDPOINT_TEST(node_has_no_labels_and_the_pressure_of_the_machine),
		ENDPOINT_TEST(runs_with_the_same_labels_are_summed),
		ENDPOINT_TEST(job_that_no_scrape_sees_is_in_all_totals_and_has_no_series),
		ENDPOINT_TEST(counters_of_a_new_job_start_at_0),
		ENDPOINT_TEST(job_runs_until_its_end),
		ENDPOINT_TEST(ended_job_has_the_figures_of_its_summary),
		SMALL_ENDPOINT_TEST(ended_jobs_are_bounded_and_the_oldest_goes_first),
		ENDPOINT_TEST(agent_that_is_silent_is_not_up),
		ENDPOINT_TEST(value_that_falls_adds_nothing),
		ENDPOINT_TEST(restarted_job_counts_on),
		ENDPOINT_TEST(ended_job_stays_for_two_scrapes_and_for_a_time),
		ENDPOINT_TEST(ended_job_stays_while_it_is_recent),
		SMALL_ENDPOINT_TEST(largest_jobs_have_series_and_the_rest_are_other),
		SMALL_ENDPOINT_TEST(jobs_are_not_decided_before_their_first_sample),
		SMALL_ENDPOINT_TEST(job_gets_its_own_series_when_there_is_room_again),
		SMALL_ENDPOINT_TEST(many_short_jobs_leave_room_for_a_long_one),
		SMALL_ENDPOINT_TEST(what_belongs_to_no_rule_has_the_series_of_the_rest),
		SMALL_ENDPOINT_TEST(jobs_within_jobs_are_marked_and_apart),
		ENDPOINT_TEST(totals_stay_over_a_stream_that_ends_and_comes_again),
		ENDPOINT_TEST(restarted_agent_adds_to_the_totals),
		ENDPOINT_TEST(job_whose_end_was_not_heard_goes_when_it_stays_silent),
		ENDPOINT_TEST(lines_of_unknown_runs_and_garbage_are_counted),
		SMALL_ENDPOINT_TEST(jobs_that_are_not_scraped_are_bounded_and_none_is_lost),
		ENDPOINT_TEST(too_many_live_runs_are_refused_and_counted),
		ENDPOINT_TEST(sums_stay_at_their_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
