// SPDX-License-Identifier: BSD-2-Clause
/* Each format against tests/data/golden/; GOLDEN=1 in the environment rewrites them, for review. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "output_fixture.h"
#include "bpfmon/roles/observer.h"
#include "run/writer.h"
#include "version.h"

/* Keeps the golden files true over releases. */
static void forget_version(char *text)
{
	static const char now[] = "\"version\":\"" BPFMON_VERSION "\"";
	static const char any[] = "\"version\":\"0\"";
	char *at = strstr(text, now);

	if (!at)
		return;
	memcpy(at, any, sizeof(any) - 1);
	memmove(at + sizeof(any) - 1, at + sizeof(now) - 1, strlen(at + sizeof(now) - 1) + 1);
}

static void assert_golden(const char *name, const char *path)
{
	char *text = file_read(path);

	forget_version(text);
	assert_golden_text(name, text);
	free(text);
}

#define EVERY_METRIC "cpu,mem,io,proc,pss_bytes,uss_bytes,pss_unread"

/* The observer of @ops alone, which writes to @path. */
static void open_one(struct observers *s, const struct observer_ops *ops, const char *path)
{
	struct recorder_options options = { .nr_outputs = 1, .quiet = true, .control_fd = -1 };

	options.outputs[0] = (struct recorder_output){ .format = ops, .path = path };
	assert_int_equal(observers_open(s, &options, NULL), 0);
	assert_int_equal(s->nr, 1);
	observers_begin(s);
}

static void close_one(struct observers *s)
{
	observers_flush(s);
	assert_false(s->all[0].has_failed);
	observers_close(s);
}

static void take(struct observers *s, struct line *l, struct jsonw *j)
{
	assert_int_equal(line_read(l, j->text, j->used), 0);
	observers_line(s, l, j->text, j->used);
	jsonw_reset(j);
}

/* A whole run, of those metrics in @list, goes through the observer into @path. */
static void record(const struct observer_ops *ops, const char *path, const char *list)
{
	struct observers s = { 0 };
	struct line l = { 0 };
	struct jsonw j = { 0 };
	struct process ended, live;
	struct sample first, second;
	struct summary total;
	static struct run run;
	const char *bad;
	size_t length;

	fixture_run(&run);
	fixture_sample(&first, 0);
	fixture_sample(&second, 1);
	fixture_process(&ended);
	fixture_live_process(&live);
	fixture_summary(&total);
	assert_int_equal(metric_set_parse(&run.wanted, list, &bad, &length), 0);
	open_one(&s, ops, path);
	write_meta(&j, &run), take(&s, &l, &j);
	write_sample(&j, &run, &first), take(&s, &l, &j);
	write_process(&j, &ended), take(&s, &l, &j);
	write_sample(&j, &run, &second), take(&s, &l, &j);
	write_process(&j, &live), take(&s, &l, &j);
	write_event(&j, &run, 150000000, "lost", 2), take(&s, &l, &j);
	write_summary(&j, &total), take(&s, &l, &j);
	observers_end(&s, &l.summary);
	close_one(&s);
	line_done(&l);
	summary_done(&total);
	jsonw_done(&j);
}

static void jsonl_is_as_it_was_reviewed(void **state)
{
	struct place *p = *state;

	record(&jsonl_observer, p->path, EVERY_METRIC);
	assert_golden("run.jsonl", p->path);
}

static void csv_is_as_it_was_reviewed(void **state)
{
	struct place *p = *state;

	record(&csv_observer, p->path, EVERY_METRIC);
	assert_golden("run.csv", p->path);
}

static void text_is_as_it_was_reviewed(void **state)
{
	struct place *p = *state;

	record(&text_observer, p->path, EVERY_METRIC);
	assert_golden("run.txt", p->path);
}

static void csv_has_the_metrics_asked_for_and_leaves_unread_cells_empty(void **state)
{
	struct place *p = *state;
	char *text;

	record(&csv_observer, p->path, "swap_bytes,cores,rss_bytes");
	text = file_read(p->path);
	assert_string_equal(text, "time,elapsed_seconds,rss_bytes,swap_bytes,cores\n"
				  "1763690000.123456,0,3145728,,\n"
				  "1763690000.223456,0.1,6291456,,3\n");
	free(text);
}

static void csv_without_meta_writes_nothing(void **state)
{
	struct place *p = *state;
	struct observers s = { 0 };
	struct line l = { 0 };
	struct jsonw j = { 0 };
	struct sample smp;
	struct run run;

	fixture_run(&run);
	fixture_sample(&smp, 0);
	open_one(&s, &csv_observer, p->path);
	write_sample(&j, &run, &smp);
	take(&s, &l, &j);
	close_one(&s);
	assert_file(p->path, "");
	line_done(&l);
	jsonw_done(&j);
}

static void jsonl_keeps_lines_of_kinds_it_does_not_know(void **state)
{
	static const char text[] = "{\"kind\":\"weather\", \"rain\": true}\n";
	struct place *p = *state;
	struct observers s = { 0 };
	struct line l = { 0 };

	open_one(&s, &jsonl_observer, p->path);
	line_read(&l, text, sizeof(text) - 1);
	observers_line(&s, &l, text, sizeof(text) - 1);
	close_one(&s);
	assert_file(p->path, text);
	line_done(&l);
}

/* More programs than are shown, a hostile name, and everything that can be lost. */
static void hard_summary(struct summary *s)
{
	struct process p = { .has_rss_peak = true };
	char exe[64];

	p.exe = exe;
	metric_put(&p.have, M_cpu);
	for (uint64_t i = 0; i < 14; i++) {
		p.value[M_cpu] = (i + 1) * 100000000;
		p.rss_peak_bytes = (i + 1) * MIB;
		snprintf(exe, sizeof(exe), "/opt/a/rather/long/way/to/program-%d", (int)i);
		summary_add_process(s, &p);
	}
	p.exe = "/tmp/\x1b[2Jevil";
	p.value[M_cpu] = 5000000000;
	summary_add_process(s, &p);
	summary_add_loss(s, "records", 12345);
	summary_add_loss(s, "tasks_full", 1);
	snprintf(s->reason, sizeof(s->reason), "a second SIGTERM came");
	sample_set(&s->total, M_cpu, 15500000000);
	s->wall_ns = 10000000000;
	s->late_ticks = 3;
	s->samples = 97;
	s->drains = 1;
	summary_finish(s);
}

static void text_of_many_programs_and_losses_is_as_it_was_reviewed(void **state)
{
	struct place *p = *state;
	struct summary s = { .has_status = true, .signal = 15 };
	struct observers all = { 0 };

	hard_summary(&s);
	open_one(&all, &text_observer, p->path);
	observers_end(&all, &s);
	close_one(&all);
	assert_golden("incomplete.txt", p->path);
	summary_done(&s);
}

static void format_is_found_by_its_whole_name(void **state)
{
	(void)state;
	assert_ptr_equal(observer_find("csv:x", 3), &csv_observer);
	assert_ptr_equal(observer_find("jsonl", 5), &jsonl_observer);
	assert_null(observer_find("json", 4));
	assert_null(observer_find("", 0));
	assert_null(observer_find("store", 5)); /* --store has asked for it */
	assert_null(observer_find("terminal", 8));
}

static void format_is_found_by_the_extension_of_a_path(void **state)
{
	(void)state;
	assert_ptr_equal(observer_for_path("/tmp/a.b/run.csv"), &csv_observer);
	assert_ptr_equal(observer_for_path("run.txt"), &text_observer);
	assert_null(observer_for_path("/tmp/a.csv/run"));
	assert_null(observer_for_path("csv"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(jsonl_is_as_it_was_reviewed),
		PLACE_TEST(csv_is_as_it_was_reviewed),
		PLACE_TEST(text_is_as_it_was_reviewed),
		PLACE_TEST(csv_has_the_metrics_asked_for_and_leaves_unread_cells_empty),
		PLACE_TEST(csv_without_meta_writes_nothing),
		PLACE_TEST(jsonl_keeps_lines_of_kinds_it_does_not_know),
		PLACE_TEST(text_of_many_programs_and_losses_is_as_it_was_reviewed),
		cmocka_unit_test(format_is_found_by_its_whole_name),
		cmocka_unit_test(format_is_found_by_the_extension_of_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
