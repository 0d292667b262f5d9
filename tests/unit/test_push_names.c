// SPDX-License-Identifier: BSD-2-Clause
/* What is sent has the names and values that the exporter shows of the same lines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "push_points_fixture.h"

/* Names and values, as in "bpfmon_job_cpu_seconds_total 2.5", without labels. */
struct values {
	char (*list)[128];
	size_t nr;
};

static void values_add(struct values *v, const char *measurement, const char *key, size_t length,
		       const char *value, size_t value_length)
{
	v->list = realloc(v->list, (v->nr + 1) * sizeof(*v->list));
	assert_non_null(v->list);
	snprintf(v->list[v->nr++], sizeof(*v->list), "%s%.*s %.*s", measurement, (int)length, key,
		 (int)value_length, value);
}

static void values_add_exposition(struct values *v, const char *text)
{
	for (const char *line = text, *end; *line; line = end + 1) {
		const char *value;

		end = strchr(line, '\n');
		assert_non_null(end);
		if (*line == '#' || !strncmp(line, "bpfmon_exporter_", 16))
			continue;
		value = memrchr(line, ' ', (size_t)(end - line)) + 1;
		values_add(v, "", line, strcspn(line, "{ "), value, (size_t)(end - value));
	}
}

/* Lines without blanks in their tags. */
static void values_add_lines(struct values *v, const char *text)
{
	for (const char *line = text, *end; *line; line = end + 1) {
		char measurement[64];
		const char *at = strchr(line, ' ');

		end = strchr(line, '\n');
		assert_true(at && end && at < end);
		snprintf(measurement, sizeof(measurement), "%.*s_", (int)strcspn(line, ","), line);
		while (*at != '\n' && (*at == ',' || at == strchr(line, ' '))) {
			const size_t key = strcspn(++at, "=");
			const size_t value = strcspn(at + key + 1, ", ");

			if (at[key + 1] != '"')
				values_add(v, measurement, at, key, at + key + 1,
					   value - (at[key + value] == 'i'));
			at += key + 1 + value;
		}
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void assert_same_values(struct values *a, struct values *b)
{
	qsort(a->list, a->nr, sizeof(*a->list), by_text);
	qsort(b->list, b->nr, sizeof(*b->list), by_text);
	for (size_t i = 0; i < a->nr && i < b->nr; i++)
		assert_string_equal(a->list[i], b->list[i]);
	assert_int_equal(a->nr, b->nr);
	free(a->list);
	free(b->list);
}

static void tell_agent(struct endpoint *e)
{
	struct buffer t = { 0 };

	buffer_puts(&t, "{\"kind\":\"agent\",\"run\":\"agent\",\"time\":1");
	for (size_t i = 0; i < NR_AGENT_METRICS; i++)
		buffer_printf(&t, ",\"%s\":%zu", agent_metric_get(i)->key, i + 1);
	buffer_puts(&t, ",\"losses\":{\"tasks\":3,\"events\":4}}\n");
	buffer_put(&t, "", 1);
	assert_false(t.failed);
	tell(e, t.text);
	buffer_done(&t);
}

/* A node, jobs that run, are nested or stalled, one without a series, and one that has ended. */
static void tell_everything(struct endpoint *e)
{
	tell_agent(e);
	tell_meta(e, "node", "", "node", "1");
	tell_all_metrics(e, "sample", "node");
	tell(e, "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"run-1\",\"start_time\":1.5,"
		"\"interval_seconds\":30,\"limits\":{\"memory_max_bytes\":4096},\"node_job\":{"
		"\"id\":\"slurm/1\",\"kind\":\"slurm\",\"name\":\"1\",\"user\":\"alice\","
		"\"account\":\"lab\",\"partition\":\"short\"}}\n");
	tell_all_metrics(e, "sample", "1");
	tell_meta(e, "2", "bob", "service", "2.25");
	tell_values(e, "sample", "2", 2.5, 100);
	tell(e, "{\"kind\":\"event\",\"run\":\"run-2\",\"event\":\"stalled\"}\n");
	tell_meta(e, "short", "alice", "slurm", "3");
	tell_end(e, "short",
		 "\"wall_seconds\":0.5,\"cpu_seconds\":0.25,\"user_seconds\":0.125,"
		 "\"system_seconds\":0.125,\"runqueue_wait_seconds\":0.001,"
		 "\"memory_needed_bytes\":5,\"rss_peak_bytes\":6,\"read_bytes\":7,"
		 "\"write_bytes\":8,\"processes_total\":9,\"oom_kills\":0,\"complete\":true");
}

static void names_and_values_are_those_of_the_exporter(void **state)
{
	struct values theirs = { 0 }, ours = { 0 };
	struct endpoint *e = *state, *exporter;
	void *other = NULL;

	assert_int_equal(endpoint_make(&other), 0);
	exporter = other;
	tell_everything(exporter);
	tell_everything(e);
	e->board.last_line_epoch_ns = exporter->board.last_line_epoch_ns = 5 * SEC;
	values_add_exposition(&theirs, scrape(exporter));
	values_add_lines(&ours, lines_at(e, BEGAN + 10 * SEC));
	assert_int_equal(points.nr_rows, 1);
	rows_of(e);
	e->text.text[strcspn(e->text.text, "\n") + 1] = '\0'; /* one of the two lines */
	values_add_lines(&ours, e->text.text);
	assert_true(ours.nr > NR_METRICS * 2);
	assert_same_values(&theirs, &ours);
	endpoint_remove(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PUSH_TEST(names_and_values_are_those_of_the_exporter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
