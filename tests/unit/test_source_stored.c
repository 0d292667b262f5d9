// SPDX-License-Identifier: BSD-2-Clause
/* Runs of the store, given as the lines that they were. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/source.h"
#include "store_fixture.h"
#include "run/rewriter.h"
#include "run/writer.h"

#include <errno.h>

#define MARK(at) "{\"kind\":\"event\",\"time\":" at ",\"event\":\"mark\",\"text\":\"a\"}\n"
#define HEAVY_1 PROCESS_SAMPLE("1", "7", "900") PROCESS_SAMPLE("1", "5", "80")
#define HEAVY_2 PROCESS_SAMPLE("2", "5", "81")
#define NEW_KIND "{\"kind\":\"metric\",\"time\":1003.5,\"name\":\"loss\"}\n"

static int set_up(void **state)
{
	struct place *p;

	if (place_make(state))
		return -1;
	p = *state;
	/* in the order in which they come of a live run */
	keep(p->path,
	     META_OF("01", "") SAMPLE_1 MARK("1002.5") SAMPLE_2 NEW_KIND PROCESS_1 SUMMARY);
	keep(p->path, META_OF("02", "") SAMPLE_1 PROCESS_1);
	keep(p->path, META_OF("00", "") SAMPLE_1 HEAVY_1 MARK("1001.5") SAMPLE_2 HEAVY_2 SUMMARY);
	return 0;
}

static void open_run(struct source *s, const struct place *p, int64_t id, enum run_state state)
{
	assert_int_equal(source_open_stored(s, p->path, id, state), 0);
}

static int note_kind(void *context, struct line *l)
{
	static const char letters[] = {
		[LINE_OTHER] = 'o',   [LINE_META] = 'm',           [LINE_SAMPLE] = 's',
		[LINE_PROCESS] = 'P', [LINE_EVENT] = 'e',          [LINE_SUMMARY] = 'S',
		[LINE_METRIC] = 'v',  [LINE_PROCESS_SAMPLE] = 'p', [LINE_SPAN] = 'n',
	};
	char *kinds = context;

	kinds[strlen(kinds)] = letters[l->kind];
	return 0;
}

static void parts_come_in_the_order_of_their_times(void **state)
{
	char kinds[16] = "";
	struct source s;

	open_run(&s, *state, 1, RUN_FINISHED);
	for (int i = 0; i < 2; i++) {
		memset(kinds, 0, sizeof(kinds));
		assert_int_equal(source_each(&s, PARTS_ALL, note_kind, kinds), 0);
		assert_string_equal(kinds, "msesvPS");
	}
	memset(kinds, 0, sizeof(kinds));
	assert_int_equal(source_each(&s, PART(LINE_EVENT) | PART(LINE_PROCESS), note_kind, kinds),
			 0);
	assert_string_equal(kinds, "eP");
	source_close(&s);
}

static int spans_write_again(void *context, struct line *l)
{
	if (l->kind == LINE_SPAN)
		rewrite_line(context, l);
	return 0;
}

static void spans_are_rewritten_as_they_came(void **state)
{
	struct place *p = *state;
	struct jsonw j = { 0 };
	char kinds[16] = "";
	struct source s;

	/* the last is of a run that was cut off */
	keep(p->path, META_OF("04", "") SPAN("2", "\"parent\":1,", "cc")
			      SAMPLE_1 PROCESS_1 SPAN("1", "\"in_place\":true,", "build"));
	open_run(&s, p, 4, RUN_UNFINISHED);
	assert_int_equal(source_each(&s, PARTS_ALL, note_kind, kinds), 0);
	assert_string_equal(kinds, "msnnP");
	assert_int_equal(source_each(&s, PART(LINE_SPAN), spans_write_again, &j), 0);
	assert_string_equal(j.text, SPAN("2", "\"parent\":1,", "cc")
					    SPAN("1", "\"in_place\":true,", "build"));
	jsonw_done(&j);
	source_close(&s);
}

#define LONG_SPAN                                                                                  \
	"{\"kind\":\"span\",\"id\":1,\"name\":\"a\",\"wall_seconds\":8123456.123456789,"           \
	"\"cpu_seconds\":9000000.000000001}\n"

/* A double has not all of the nanoseconds of some months. */
static void spans_of_months_are_rewritten_to_the_nanosecond(void **state)
{
	struct place *p = *state;
	struct jsonw j = { 0 };
	struct source s;

	keep(p->path, META_OF("04", "") LONG_SPAN);
	open_run(&s, p, 4, RUN_UNFINISHED);
	assert_int_equal(source_each(&s, PART(LINE_SPAN), spans_write_again, &j), 0);
	assert_string_equal(j.text, LONG_SPAN);
	jsonw_done(&j);
	source_close(&s);
}

static void spans_among_the_events_are_unreadable(void **state)
{
	struct place *p = *state;
	char kinds[16] = "";
	struct source s;

	tell(p->path, "UPDATE event SET line='{\"kind\":\"span\",\"id\":1,\"name\":\"a\"}'"
		      " WHERE run=1 AND kind='metric'");
	open_run(&s, p, 1, RUN_FINISHED);
	assert_int_equal(source_each(&s, PARTS_ALL, note_kind, kinds), 0);
	assert_null(strchr(kinds, 'n'));
	assert_int_equal(s.unreadable, 1);
	source_close(&s);
}

static int compare_row(void *context, struct line *l)
{
	struct line was = { 0 };

	(void)context;
	if (l->kind == LINE_SAMPLE) {
		const char *text = l->sample.elapsed_ns < 2000000000 ? SAMPLE_1 : SAMPLE_2;

		assert_int_equal(line_read(&was, text, strlen(text)), 0);
		assert_int_equal(l->sample.elapsed_ns, was.sample.elapsed_ns);
		assert_memory_equal(&l->sample.have, &was.sample.have, sizeof(was.sample.have));
		for (int i = 0; i < NR_METRICS; i++)
			if (sample_has(&was.sample, (enum metric_id)i))
				assert_int_equal(l->sample.value[i], was.sample.value[i]);
	} else {
		struct jsonw a = { 0 }, b = { 0 };

		assert_int_equal(line_read(&was, PROCESS_1, strlen(PROCESS_1)), 0);
		write_process(&a, &was.process);
		write_process(&b, &l->process);
		assert_string_equal(a.text, b.text);
		jsonw_done(&a);
		jsonw_done(&b);
	}
	line_done(&was);
	return 0;
}

static void rows_have_the_values_of_the_lines(void **state)
{
	struct source s;

	open_run(&s, *state, 1, RUN_FINISHED);
	assert_int_equal(source_each(&s, PART(LINE_SAMPLE) | PART(LINE_PROCESS), compare_row, NULL),
			 0);
	source_close(&s);
}

static void process_samples_come_behind_their_sample(void **state)
{
	char kinds[16] = "";
	struct source s;

	open_run(&s, *state, 3, RUN_FINISHED);
	assert_int_equal(source_each(&s, PARTS_ALL, note_kind, kinds), 0);
	assert_string_equal(kinds, "msppespS");
	source_close(&s);
}

static int rewrite(void *context, struct line *l)
{
	rewrite_line(context, l);
	return 0;
}

static void process_samples_are_rewritten_as_they_came(void **state)
{
	struct jsonw j = { 0 };
	struct source s;

	open_run(&s, *state, 3, RUN_FINISHED);
	assert_int_equal(source_each(&s, PART(LINE_PROCESS_SAMPLE), rewrite, &j), 0);
	assert_string_equal(j.text, HEAVY_1 HEAVY_2);
	jsonw_done(&j);
	source_close(&s);
}

static void process_samples_of_a_time_are_given_alone(void **state)
{
	struct jsonw j = { 0 };
	struct source s;

	open_run(&s, *state, 3, RUN_FINISHED);
	s.from_ns = 1000000001;
	s.to_ns = 2000000000;
	assert_int_equal(source_each(&s, PART(LINE_PROCESS_SAMPLE), rewrite, &j), 0);
	assert_string_equal(j.text, HEAVY_2);
	jsonw_done(&j);
	source_close(&s);
}

static int only_rss(void *context, struct line *l)
{
	(void)context;
	assert_false(sample_has(&l->sample, M_cpu));
	return 0;
}

static void metrics_that_are_not_needed_are_not_read(void **state)
{
	struct metric_set only = { 0 };
	struct source s;

	metric_put(&only, M_rss);
	open_run(&s, *state, 1, RUN_FINISHED);
	s.only = &only;
	assert_int_equal(source_each(&s, PART(LINE_SAMPLE), only_rss, NULL), 0);
	source_close(&s);
}

static void run_without_a_summary_is_folded_with_the_reason(void **state)
{
	struct summary total;
	struct source s;
	bool is_folded;

	open_run(&s, *state, 2, RUN_UNFINISHED);
	assert_int_equal(source_summary(&s, &total, &is_folded), 0);
	assert_true(is_folded);
	assert_false(total.complete);
	assert_non_null(strstr(total.reason, "killed"));
	assert_int_equal(total.total.value[M_cpu], 500000000);
	assert_int_equal(total.rss_peak_bytes, 4096);
	assert_string_equal(total.programs[0].exe, "/bin/cc");
	summary_done(&total);
	source_close(&s);
	open_run(&s, *state, 2, RUN_RUNNING);
	assert_int_equal(source_summary(&s, &total, &is_folded), 0);
	assert_non_null(strstr(total.reason, "still going on"));
	summary_done(&total);
	source_close(&s);
}

static void lines_that_did_not_reach_the_store_are_a_loss(void **state)
{
	struct place *p = *state;
	struct summary total;
	struct source s;
	bool is_folded;

	tell(p->path, "UPDATE run SET lines_lost=7");
	open_run(&s, p, 1, RUN_FINISHED);
	assert_int_equal(source_summary(&s, &total, &is_folded), 0);
	assert_false(is_folded);
	assert_false(total.complete);
	assert_int_equal(total.nr_losses, 1);
	assert_string_equal(total.losses[0].name, "lines_not_stored");
	assert_int_equal(total.losses[0].count, 7);
	summary_done(&total);
	source_close(&s);
}

static void run_that_is_gone_is_an_error(void **state)
{
	char kinds[16] = "";
	struct source s;

	open_run(&s, *state, 9, RUN_FINISHED);
	assert_int_equal(source_each(&s, PARTS_ALL, note_kind, kinds), -ENOENT);
	source_close(&s);
}

#define STORED_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORED_TEST(parts_come_in_the_order_of_their_times),
		STORED_TEST(rows_have_the_values_of_the_lines),
		STORED_TEST(spans_are_rewritten_as_they_came),
		STORED_TEST(spans_of_months_are_rewritten_to_the_nanosecond),
		STORED_TEST(spans_among_the_events_are_unreadable),
		STORED_TEST(process_samples_come_behind_their_sample),
		STORED_TEST(process_samples_are_rewritten_as_they_came),
		STORED_TEST(process_samples_of_a_time_are_given_alone),
		STORED_TEST(metrics_that_are_not_needed_are_not_read),
		STORED_TEST(run_without_a_summary_is_folded_with_the_reason),
		STORED_TEST(lines_that_did_not_reach_the_store_are_a_loss),
		STORED_TEST(run_that_is_gone_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
