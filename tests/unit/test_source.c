// SPDX-License-Identifier: BSD-2-Clause
/* Runs in files: whole, cut off, folded, and what is none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define META "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"start_time\":5}\n"
#define FIRST "{\"kind\":\"sample\",\"elapsed_seconds\":0,\"cpu_seconds\":0,\"rss_bytes\":9}\n"
#define SECOND                                                                                     \
	"{\"kind\":\"sample\",\"elapsed_seconds\":2.5,\"cpu_seconds\":1.25,\"forks\":2,\"rss_"     \
	"bytes\":7}\n"
#define PROCESS "{\"kind\":\"process\",\"pid\":7,\"exe\":\"/bin/a\",\"cpu_seconds\":1}\n"
#define SPAN(id, name)                                                                             \
	"{\"kind\":\"span\",\"id\":" id ",\"name\":\"" name                                        \
	"\",\"complete\":true,\"cpu_seconds\":1}\n"
#define SUMMARY "{\"kind\":\"summary\",\"complete\":true,\"wall_seconds\":3,\"exit_code\":4}\n"

static int open_text(struct source *s, const char *text)
{
	char path[] = "/tmp/bpfmon-test-source-XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	err = source_open_file(s, path);
	unlink(path);
	return err;
}

static int count(void *context, struct line *l)
{
	unsigned *seen = context;

	seen[l->kind]++;
	return 0;
}

static int seven_at_the_sample(void *context, struct line *l)
{
	(void)context;
	return l->kind == LINE_SAMPLE ? 7 : 0;
}

static void all_parts_are_given_as_often_as_asked(void **state)
{
	struct source s;

	(void)state;
	assert_int_equal(open_text(&s, META FIRST PROCESS "{\"kind\":\"new\"}\n" SECOND SUMMARY),
			 0);
	for (int i = 0; i < 2; i++) {
		unsigned seen[LINE_SPAN + 1] = { 0 };

		assert_int_equal(source_each(&s, PARTS_ALL, count, seen), 0);
		assert_int_equal(seen[LINE_META], 1);
		assert_int_equal(seen[LINE_SAMPLE], 2);
		assert_int_equal(seen[LINE_PROCESS], 1);
		assert_int_equal(seen[LINE_OTHER], 1);
		assert_int_equal(seen[LINE_SUMMARY], 1);
	}
	assert_false(s.is_cut);
	assert_int_equal(s.unreadable, 0);
	source_close(&s);
}

static void parts_that_were_not_asked_for_are_not_given(void **state)
{
	unsigned seen[LINE_SPAN + 1] = { 0 };
	struct source s;

	(void)state;
	assert_int_equal(open_text(&s, META FIRST PROCESS SECOND SUMMARY), 0);
	assert_int_equal(source_each(&s, PART(LINE_PROCESS) | PART(LINE_META), count, seen), 0);
	assert_int_equal(seen[LINE_SAMPLE] + seen[LINE_SUMMARY], 0);
	assert_int_equal(seen[LINE_PROCESS], 1);
	source_close(&s);
}

struct seen_spans {
	char names[64];
	unsigned others;
};

static int span_note(void *context, struct line *l)
{
	struct seen_spans *seen = context;

	if (l->kind == LINE_SPAN)
		strcat(strcat(seen->names, l->span.label.name), " ");
	else
		seen->others++;
	return 0;
}

static void spans_are_given_at_any_place_and_alone_if_nothing_else_is_asked_for(void **state)
{
	struct seen_spans seen = { 0 }, all = { 0 }, none = { 0 };
	struct source s;

	(void)state;
	assert_int_equal(open_text(&s, META SPAN("2", "a") FIRST SPAN("3", "b")
					       PROCESS SPAN("1", "c") SUMMARY SPAN("4", "d")),
			 0);
	assert_int_equal(source_each(&s, PART(LINE_SPAN), span_note, &seen), 0);
	assert_string_equal(seen.names, "a b c d ");
	assert_int_equal(seen.others, 0);
	assert_int_equal(source_each(&s, PARTS_ALL, span_note, &all), 0);
	assert_string_equal(all.names, "a b c d ");
	assert_int_equal(all.others, 4);
	assert_int_equal(source_each(&s, PARTS_ALL & ~PART(LINE_SPAN), span_note, &none), 0);
	assert_string_equal(none.names, "");
	source_close(&s);
}

/* Parsing takes most of the time to read a file: an unasked line is not parsed, so it can be
 * broken. */
static void spans_that_were_not_asked_for_are_not_parsed(void **state)
{
	unsigned seen[LINE_SPAN + 1] = { 0 };
	struct source s;

	(void)state;
	assert_int_equal(open_text(&s, META "{\"kind\":\"span\",nonsense}\n" FIRST SUMMARY), 0);
	assert_int_equal(source_each(&s, PART(LINE_SAMPLE), count, seen), 0);
	assert_int_equal(s.unreadable, 0);
	assert_int_equal(source_each(&s, PART(LINE_SPAN), count, seen), 0);
	assert_int_equal(s.unreadable, 1);
	source_close(&s);
}

static void a_run_that_was_cut_off_keeps_its_spans_and_folds_none_of_them(void **state)
{
	struct seen_spans seen = { 0 };
	struct summary total;
	struct source s;
	bool is_folded;

	(void)state;
	assert_int_equal(open_text(&s, META FIRST SPAN("1", "a") SECOND SPAN(
					       "2", "b") "{\"kind\":\"span\",\"id\":3,\"na"),
			 0);
	assert_int_equal(source_each(&s, PART(LINE_SPAN), span_note, &seen), 0);
	assert_string_equal(seen.names, "a b ");
	assert_int_equal(source_summary(&s, &total, &is_folded), 0);
	assert_true(is_folded);
	assert_int_equal(total.total.value[M_cpu], 1250000000);
	summary_done(&total);
	source_close(&s);
}

static void the_callback_can_end_the_reading(void **state)
{
	struct source s;

	(void)state;
	assert_int_equal(open_text(&s, META FIRST SUMMARY), 0);
	assert_int_equal(source_each(&s, PARTS_ALL, seven_at_the_sample, NULL), 7);
	source_close(&s);
}

static void a_summary_that_is_there_is_taken(void **state)
{
	struct summary total;
	struct source s;
	bool is_folded;

	(void)state;
	assert_int_equal(open_text(&s, META FIRST PROCESS SECOND SUMMARY), 0);
	assert_int_equal(source_summary(&s, &total, &is_folded), 0);
	assert_false(is_folded);
	assert_true(total.complete);
	assert_int_equal(total.exit_code, 4);
	assert_int_equal(total.wall_ns, 3000000000);
	summary_done(&total);
	source_close(&s);
}

static void a_summary_is_folded_of_a_file_that_is_cut_off(void **state)
{
	struct summary total;
	struct source s;
	bool is_folded;

	(void)state;
	assert_int_equal(open_text(&s, META FIRST PROCESS SECOND "{\"kind\":\"sample\",\"elap"), 0);
	assert_int_equal(source_summary(&s, &total, &is_folded), 0);
	assert_true(is_folded);
	assert_true(s.is_cut);
	assert_int_equal(s.unreadable, 0);
	assert_false(total.complete);
	assert_int_equal(total.wall_ns, 2500000000);
	assert_int_equal(total.total.value[M_cpu], 1250000000);
	assert_int_equal(total.rss_peak_bytes, 9);
	assert_int_equal(total.processes_total, 3);
	assert_string_equal(total.programs[0].exe, "/bin/a");
	summary_done(&total);
	source_close(&s);
}

static void lines_that_cannot_be_read_are_counted(void **state)
{
	unsigned seen[LINE_SPAN + 1] = { 0 };
	struct source s;

	(void)state;
	assert_int_equal(open_text(&s, META "rubbish\n[]\n" FIRST), 0);
	assert_int_equal(source_each(&s, PARTS_ALL, count, seen), 0);
	assert_int_equal(s.unreadable, 2);
	assert_int_equal(seen[LINE_SAMPLE], 1);
	source_close(&s);
}

static void what_is_no_run_is_refused(void **state)
{
	static const struct {
		const char *text;
		int err;
	} files[] = {
		{ "", -EBADMSG },
		{ "rubbish\n", -EBADMSG },
		{ FIRST, -EBADMSG },
		{ "{\"kind\":\"meta\"}\n", -EBADMSG },
		{ "{\"kind\":\"meta\",\"schema\":\"bpfmon/2\"}\n", -EPROTONOSUPPORT },
		{ META SUMMARY META, -EMLINK },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		unsigned seen[LINE_SPAN + 1] = { 0 };
		struct source s;

		assert_int_equal(open_text(&s, files[i].text), 0);
		assert_int_equal(source_each(&s, PARTS_ALL, count, seen), files[i].err);
		assert_true(strlen(source_error(files[i].err)) > 10);
		source_close(&s);
	}
}

static void a_file_that_is_not_there_is_an_error(void **state)
{
	struct source s;

	(void)state;
	assert_int_equal(source_open_file(&s, "/nonexistent/run.jsonl"), -ENOENT);
	source_close(&s);
}

static void a_pipe_is_read_more_than_once(void **state)
{
	int ends[2], old = dup(STDIN_FILENO);
	unsigned seen[LINE_SPAN + 1] = { 0 };
	struct source s;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], META FIRST, strlen(META FIRST)), strlen(META FIRST));
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	assert_int_equal(source_open_file(&s, "-"), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(source_each(&s, PARTS_ALL, count, seen), 0);
	assert_int_equal(seen[LINE_SAMPLE], 2);
	source_close(&s);
	dup2(old, STDIN_FILENO);
	close(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_parts_are_given_as_often_as_asked),
		cmocka_unit_test(parts_that_were_not_asked_for_are_not_given),
		cmocka_unit_test(
			spans_are_given_at_any_place_and_alone_if_nothing_else_is_asked_for),
		cmocka_unit_test(spans_that_were_not_asked_for_are_not_parsed),
		cmocka_unit_test(a_run_that_was_cut_off_keeps_its_spans_and_folds_none_of_them),
		cmocka_unit_test(the_callback_can_end_the_reading),
		cmocka_unit_test(a_summary_that_is_there_is_taken),
		cmocka_unit_test(a_summary_is_folded_of_a_file_that_is_cut_off),
		cmocka_unit_test(lines_that_cannot_be_read_are_counted),
		cmocka_unit_test(what_is_no_run_is_refused),
		cmocka_unit_test(a_file_that_is_not_there_is_an_error),
		cmocka_unit_test(a_pipe_is_read_more_than_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
