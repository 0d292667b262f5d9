// SPDX-License-Identifier: BSD-2-Clause
/* The text of a scrape, and the choice between its formats. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "exporter_fixture.h"

static void formats_differ_in_what_is_said_about_a_metric(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 2.5);
	text = scrape_as(e, EXPOSITION_OPENMETRICS);
	assert_true(has_line(text, "# TYPE bpfmon_job_cpu_seconds counter"));
	assert_true(has_line(text, "# UNIT bpfmon_job_cpu_seconds seconds"));
	assert_true(
		has_line(text, "# HELP bpfmon_job_cpu_seconds CPU time, exact to the nanosecond"));
	assert_true(has_line(text, "# EOF"));
	text = scrape_as(e, EXPOSITION_PLAIN);
	assert_true(has_line(text, "# TYPE bpfmon_job_cpu_seconds_total counter"));
	assert_true(has_line(
		text, "# HELP bpfmon_job_cpu_seconds_total CPU time, exact to the nanosecond"));
	assert_true(has_line(text, "# TYPE bpfmon_job_rss_bytes gauge"));
	assert_null(strstr(text, "UNIT"));
	assert_null(strstr(text, "EOF"));
}

static void tell_gpus(struct endpoint *e, const char *run)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "{\"kind\":\"sample\",\"run\":\"run-%s\",\"elapsed_seconds\":1,"
		 "\"gpu_seconds\":1.5,\"gpus_used\":0.75,\"gpus_held\":2,\"gpu_power_watts\":"
		 "312.5,\"gpu_energy_joules\":8000.25,\"gpu_clock_hertz\":1980000000,"
		 "\"host_energy_joules\":70,\"energy_apportioned_joules\":20.5,"
		 "\"energy_unapportioned_joules\":49.5}\n",
		 run);
	tell(e, line);
}

#define GPU_JOB "{job=\"slurm/1\",user=\"alice\",kind=\"slurm\",name=\"1\"}"

static void gpus_and_energy_have_the_units_of_openmetrics(void **state)
{
	static const char *const lines[] = {
		"# TYPE bpfmon_job_gpus_held gauge",
		"# HELP bpfmon_job_gpus_held GPUs that processes have open",
		"bpfmon_job_gpus_held" GPU_JOB " 2",
		"bpfmon_job_gpus_used" GPU_JOB " 0.75",
		"# TYPE bpfmon_job_gpu_energy_joules counter",
		"# UNIT bpfmon_job_gpu_energy_joules joules",
		"bpfmon_job_gpu_energy_joules_total" GPU_JOB " 8000.25",
		"# TYPE bpfmon_job_gpu_power_watts gauge",
		"# UNIT bpfmon_job_gpu_power_watts watts",
		"bpfmon_job_gpu_power_watts" GPU_JOB " 312.5",
		"# UNIT bpfmon_job_gpu_clock_hertz hertz",
		"bpfmon_job_gpu_clock_hertz" GPU_JOB " 1980000000",
		"bpfmon_job_gpu_seconds_total" GPU_JOB " 1.5",
		"bpfmon_job_energy_apportioned_joules_total" GPU_JOB " 20.5",
		"bpfmon_user_energy_apportioned_joules_total{user=\"alice\",kind=\"slurm\"} 20.5",
		"bpfmon_node_gpus_held 2",
		"bpfmon_node_gpu_energy_joules_total 8000.25",
		"# UNIT bpfmon_node_host_energy_joules joules",
		"bpfmon_node_host_energy_joules_total 70",
		"bpfmon_node_energy_unapportioned_joules_total 49.5",
	};
	struct endpoint *e = *state;
	const char *text;

	tell_meta(e, "1", "alice", "slurm", "1.5");
	tell_gpus(e, "1");
	tell_meta(e, "node", "", "node", "1");
	tell_gpus(e, "node");
	text = scrape(e);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (!has_line(text, lines[i]))
			fail_msg("no line\n%s\nin\n%s", lines[i], text);
	assert_null(strstr(text, "bpfmon_job_host_energy")); /* of the machine, not of a job */
	assert_null(strstr(text, "bpfmon_job_energy_unapportioned"));
	assert_null(strstr(text, "bpfmon_user_gpu_power")); /* users have no gauges */
}

static void machine_without_gpus_has_no_series_of_them(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell_job(e, "1", 2.5);
	text = scrape(e);
	assert_null(strstr(text, "gpu"));
	assert_null(strstr(text, "joules"));
}

static void labels_are_escaped_and_steer_no_terminal(void **state)
{
	struct endpoint *e = *state;

	tell(e, "{\"kind\":\"meta\",\"schema\":\"bpfmon/"
		"1\",\"run\":\"r\",\"start_time\":1,\"node_job\":"
		"{\"id\":\"a\\\"b\\\\c\",\"kind\":\"k\\nl\",\"name\":\"\\u001b[2J\\u00e9\","
		"\"user\":\"\",\"uid\":1234}}\n");
	tell(e, "{\"kind\":\"sample\",\"run\":\"r\",\"minflt\":3}\n");
	assert_true(has_line(scrape(e), "bpfmon_job_minflt_total{job=\"a\\\"b\\\\c\",user=\"1234\","
					"kind=\"k\\nl\",name=\"?[2J\xc3\xa9\"} 3"));
}

static void long_labels_are_cut(void **state)
{
	struct endpoint *e = *state;
	char name[600];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	tell_meta(e, name, "alice", "slurm", "1");
	assert_int_equal(strlen(e->board.first->labels.name), LABEL_BYTES - 1);
}

static void no_label_is_a_run_a_process_or_a_command(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell(e,
	     "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"secret-run\",\"start_time\":1,"
	     "\"command\":[\"secret-command\"],\"pid\":4711,\"node_job\":{\"id\":\"a\",\"kind\":"
	     "\"k\","
	     "\"name\":\"a\",\"user\":\"u\",\"cgroup\":\"/secret-cgroup\"}}\n");
	tell(e, "{\"kind\":\"sample\",\"run\":\"secret-run\",\"minflt\":3}\n");
	text = scrape(e);
	assert_null(strstr(text, "secret"));
	assert_null(strstr(text, "4711"));
}

static void agent_is_shown_as_far_as_it_says(void **state)
{
	struct endpoint *e = *state;
	const char *text;

	tell(e,
	     "{\"kind\":\"agent\",\"run\":\"agent\",\"time\":1,\"cpu_seconds\":1.25,\"map_bytes\":"
	     "4096,"
	     "\"tasks\":-1,\"drain_max_seconds\":0.004,\"losses\":{\"tasks\":3,\"free_events\":0}}"
	     "\n");
	text = scrape(e);
	assert_true(has_line(text, "bpfmon_agent_up 1"));
	assert_true(has_line(text, "bpfmon_agent_cpu_seconds_total 1.25"));
	assert_true(has_line(text, "bpfmon_agent_map_bytes 4096"));
	assert_true(has_line(text, "bpfmon_agent_drain_max_seconds 0.004"));
	assert_true(has_line(text, "bpfmon_agent_losses_total{what=\"tasks\"} 3"));
	assert_true(has_line(text, "bpfmon_agent_losses_total{what=\"free_events\"} 0"));
	assert_null(strstr(text, "bpfmon_agent_tasks"));
	assert_null(strstr(text, "bpfmon_agent_rss"));
	board_disconnect(&e->board, e->now_ns);
	text = scrape(e);
	assert_true(has_line(text, "bpfmon_agent_up 0"));
	assert_null(strstr(text, "bpfmon_agent_cpu"));
}

static void assert_choice(const char *accept, enum exposition expected)
{
	if (exposition_choose(accept) != expected)
		fail_msg("%s", accept ? accept : "no header");
}

static void client_chooses_the_format(void **state)
{
	(void)state;
	assert_choice("application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
		      "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		      EXPOSITION_OPENMETRICS);
	assert_choice("application/openmetrics-text", EXPOSITION_OPENMETRICS);
	assert_choice("Application/OpenMetrics-Text ; Version=\"1.0.0\"", EXPOSITION_OPENMETRICS);
	assert_choice("text/plain;q=0.5, application/openmetrics-text;q=0.6",
		      EXPOSITION_OPENMETRICS);
	assert_choice("text/plain;q=0.5, application/openmetrics-text;q=0.4", EXPOSITION_PLAIN);
	assert_choice("application/openmetrics-text;q=0", EXPOSITION_PLAIN);
	assert_choice("application/openmetrics-text;version=0.0.1", EXPOSITION_PLAIN);
	assert_choice("text/html,application/xhtml+xml,*/*;q=0.8", EXPOSITION_PLAIN);
	assert_choice("text/plain;version=0.0.4", EXPOSITION_PLAIN);
	assert_choice("*/*", EXPOSITION_PLAIN);
	assert_choice("", EXPOSITION_PLAIN);
	assert_choice(",;=,;;q=,;q=nan;version", EXPOSITION_PLAIN);
	assert_choice(NULL, EXPOSITION_PLAIN);
}

static void every_listed_name_is_listed_once(void **state)
{
	struct buffer t = { 0 };
	char name[128];
	const char *next;

	(void)state;
	exposition_list(&t);
	buffer_put(&t, "", 1);
	assert_false(t.failed);
	for (const char *at = strstr(t.text, "| `"); *at; at = next + 1) {
		int n = (int)(strchr(at + 3, '`') - at);

		next = strchr(at, '\n');
		snprintf(name, sizeof(name), "%.*s` ", n, at);
		assert_null(strstr(next, name));
	}
	buffer_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENDPOINT_TEST(formats_differ_in_what_is_said_about_a_metric),
		ENDPOINT_TEST(gpus_and_energy_have_the_units_of_openmetrics),
		ENDPOINT_TEST(machine_without_gpus_has_no_series_of_them),
		ENDPOINT_TEST(labels_are_escaped_and_steer_no_terminal),
		ENDPOINT_TEST(long_labels_are_cut),
		ENDPOINT_TEST(no_label_is_a_run_a_process_or_a_command),
		ENDPOINT_TEST(agent_is_shown_as_far_as_it_says),
		cmocka_unit_test(client_chooses_the_format),
		cmocka_unit_test(every_listed_name_is_listed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
