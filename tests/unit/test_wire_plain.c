// SPDX-License-Identifier: BSD-2-Clause
/* Samples and records of processes that are read without a tree: as the parser of JSON reads them,
 * or not at all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "wire_fixture.h"

static void same_process(const struct process *a, const struct process *b)
{
	struct jsonw one = { 0 }, other = { 0 };

	write_process(&one, a);
	write_process(&other, b);
	assert_string_equal(one.text, other.text);
	assert_int_equal(a->args_length, b->args_length);
	assert_int_equal(!a->args, !b->args);
	assert_int_equal(a->has_ended, b->has_ended);
	assert_int_equal(a->exit_code, b->exit_code);
	assert_int_equal(a->signal, b->signal);
	assert_int_equal(a->end_epoch_ns, b->end_epoch_ns);
	assert_int_equal(a->rss_peak_exact, b->rss_peak_exact);
	same_values(a->value, &a->have, b->value, &b->have);
	jsonw_done(&one);
	jsonw_done(&other);
}

static void same_process_sample(const struct process_sample *a, const struct process_sample *b)
{
	assert_int_equal(a->elapsed_ns, b->elapsed_ns);
	assert_int_equal(a->pid, b->pid);
	assert_string_equal(a->comm, b->comm);
	assert_int_equal(a->lossy, b->lossy);
	assert_int_equal(a->start_epoch_ns, b->start_epoch_ns);
	assert_int_equal(a->has_parent, b->has_parent);
	assert_int_equal(a->ppid, b->ppid);
	assert_int_equal(a->uid, b->uid);
	assert_string_equal(a->exe ? a->exe : "none", b->exe ? b->exe : "none");
	same_values(a->value, &a->have, b->value, &b->have);
}

/* Both readers accept the line, with the same content, or none does. True: it was read plainly. */
static bool is_read_alike(const char *text, size_t length)
{
	struct line quick = { 0 }, parsed = { 0 };
	int err = line_read(&parsed, text, length);
	bool is_plain;

	assert_int_equal(line_read_quick(&quick, text, length), err);
	assert_int_equal(quick.kind, parsed.kind);
	is_plain = !err && !quick.tree;
	if (!err && parsed.kind == LINE_PROCESS)
		same_process(&quick.process, &parsed.process);
	if (!err && parsed.kind == LINE_PROCESS_SAMPLE)
		same_process_sample(&quick.process_sample, &parsed.process_sample);
	if (!err && parsed.kind == LINE_SAMPLE) {
		assert_int_equal(quick.sample.elapsed_ns, parsed.sample.elapsed_ns);
		same_values(quick.sample.value, &quick.sample.have, parsed.sample.value,
			    &parsed.sample.have);
	}
	line_done(&quick);
	line_done(&parsed);
	return is_plain;
}

static bool is_process_read_plainly(const struct process *p)
{
	struct jsonw j = { 0 };
	bool is_plain;

	write_process(&j, p);
	is_plain = is_read_alike(j.text, j.used);
	assert_int_equal(is_read_alike(j.text, j.used - 1), is_plain); /* without the newline */
	jsonw_done(&j);
	return is_plain;
}

static bool is_line_read_plainly(const char *text)
{
	return is_read_alike(text, strlen(text));
}

static void record_of_plain_texts_needs_no_tree(void **state)
{
	struct process p;

	(void)state;
	fixture_process(&p);
	p.args = "cc\0\0last";
	p.args_length = 8;
	assert_true(is_process_read_plainly(&p));
	p.args_cut = p.lossy = true;
	assert_true(is_process_read_plainly(&p));
	p.rss_peak_exact = false;
	assert_true(is_process_read_plainly(&p));
	p.has_rss_peak = false;
	p.exe = p.args = NULL;
	assert_true(is_process_read_plainly(&p));
	p.have = (struct metric_set){ 0 };
	assert_true(is_process_read_plainly(&p));
}

static void each_way_to_end_or_to_be_left_needs_no_tree(void **state)
{
	struct process p;

	(void)state;
	fixture_live_process(&p);
	assert_true(is_process_read_plainly(&p));
	p.state = 0;
	p.joined_epoch_ns = 1763690000123457000U;
	p.left_epoch_ns = 1763690001123457000U;
	assert_true(is_process_read_plainly(&p));
	fixture_process(&p);
	p.signal = 9;
	assert_true(is_process_read_plainly(&p));
	p.signal = 0;
	p.exit_code = 255;
	p.end_epoch_ns = 0;
	assert_true(is_process_read_plainly(&p));
}

static void numbers_are_read_to_the_last_digit(void **state)
{
	struct process p;

	(void)state;
	fixture_process(&p);
	p.pid = INT32_MAX;
	p.ppid = INT32_MIN + 1;
	p.uid = UINT32_MAX;
	p.span = 7;
	p.value[M_cpu] = 100000000000000001U;
	p.value[M_minflt] = 999999999999999999U;
	assert_true(is_process_read_plainly(&p));
	p.value[M_cpu] = UINT64_MAX;
	assert_true(is_process_read_plainly(&p));
	p.value[M_minflt] = INT64_MAX;
	is_process_read_plainly(&p);
}

static void texts_that_are_escaped_or_no_ascii_are_left_to_the_parser(void **state)
{
	struct process p;

	(void)state;
	fixture_process(&p);
	p.exe = "/bin/a\"b";
	assert_false(is_process_read_plainly(&p));
	p.exe = "/bin/\xc3\xa4";
	assert_false(is_process_read_plainly(&p));
	p.exe = "/bin/\xff";
	assert_false(is_process_read_plainly(&p));
	fixture_process(&p);
	p.args = "\n";
	p.args_length = 2;
	assert_false(is_process_read_plainly(&p));
}

#define BEFORE "{\"kind\":\"process\",\"pid\":5,\"ns_pid\":5,\"ppid\":1,\"uid\":0,\"comm\":\"cc\","
#define AFTER                                                                                      \
	"\"start_time\":1.5,\"end_time\":2,\"exit_code\":0,\"signal\":null,\"threads_total\":1,"   \
	"\"execs\":1"

static void line_that_bpfmon_would_not_write_is_left_to_the_parser(void **state)
{
	(void)state;
	assert_true(is_line_read_plainly(BEFORE "\"exe\":null," AFTER "}"));
	assert_false(is_line_read_plainly(BEFORE "\"exe\":null," AFTER ",\"new\":1}"));
	assert_false(is_line_read_plainly(BEFORE "\"exe\":null," AFTER ",\"pid\":6}"));
	assert_false(is_line_read_plainly(BEFORE "\"exe\":null," AFTER ",\"cpu_seconds\":1e3}"));
	assert_false(is_line_read_plainly(BEFORE "\"exe\":null," AFTER ",\"cpu_seconds\":01}"));
	assert_false(is_line_read_plainly(BEFORE "\"exe\":null," AFTER ",\"cpu_seconds\":1.}"));
	assert_false(is_line_read_plainly(BEFORE "\"exe\":null," AFTER ",\"cpu_seconds\":-1}"));
	assert_false(is_line_read_plainly(BEFORE "\"exe\":null," AFTER ",\"lossy\":false}"));
	assert_false(is_line_read_plainly(BEFORE "\"exe\":null,\"args\":[]," AFTER "}"));
	assert_false(is_line_read_plainly(BEFORE "\"exe\":null, " AFTER "}"));
	assert_false(is_line_read_plainly(BEFORE "\"exe\":5," AFTER "}"));
	assert_false(is_line_read_plainly(BEFORE AFTER "}"));
	assert_false(is_line_read_plainly("{\"kind\":\"process\"}"));
	assert_false(is_line_read_plainly("{\"kind\":\"process_sample\",\"pid\":5}"));
}

/* Each byte of the line in turn is replaced by each of @others, and left out. */
static void damage_every_byte(const struct jsonw *j, const char *others)
{
	char *text = malloc(j->used);

	assert_non_null(text);
	for (size_t at = 0; at < j->used; at++) {
		memcpy(text, j->text, j->used);
		for (const char *other = others; *other; other++) {
			text[at] = *other;
			is_read_alike(text, j->used);
		}
		memcpy(text + at, j->text + at + 1, j->used - at - 1);
		is_read_alike(text, j->used - 1);
		is_read_alike(j->text, at);
	}
	free(text);
}

static void damaged_line_is_read_as_the_parser_reads_it(void **state)
{
	struct process p;
	struct jsonw j = { 0 };

	(void)state;
	fixture_process(&p);
	p.args = "cc\0last";
	p.args_length = 8;
	p.joined_epoch_ns = 1763690000123457000U;
	write_process(&j, &p);
	damage_every_byte(&j, "09-.eE\"\\,:{}[]nt \n\x7f\x80");
	jsonw_done(&j);
}

#define PROCESS_SAMPLE                                                                             \
	"{\"kind\":\"process_sample\",\"time\":1763690000.5,\"elapsed_seconds\":1.000000001,"      \
	"\"pid\":"                                                                                 \
	"22699,\"comm\":\"sh\",\"start_time\":1763690000.100001,"

static void samples_need_no_tree(void **state)
{
	(void)state;
	assert_true(is_line_read_plainly("{\"kind\":\"sample\",\"time\":1.5,\"elapsed_seconds\":1,"
					 "\"cpu_seconds\":4503599.627370497,\"minflt\":5,"
					 "\"cores\":1.25}\n"));
	assert_true(
		is_line_read_plainly(PROCESS_SAMPLE "\"cpu_seconds\":0.25,\"rss_bytes\":4096}\n"));
	assert_true(is_line_read_plainly(PROCESS_SAMPLE
					 "\"ppid\":1,\"uid\":0,\"exe\":\"/bin/sh\",\"cpu_seconds\":"
					 "0.25,\"minflt\":7,\"threads\":3,\"rss_bytes\":4096}"));
	assert_true(is_line_read_plainly(PROCESS_SAMPLE "\"ppid\":1,\"uid\":0,\"lossy\":true}"));
}

static void samples_of_another_bpfmon_are_left_to_the_parser(void **state)
{
	(void)state;
	assert_false(
		is_line_read_plainly("{\"kind\":\"sample\",\"elapsed_seconds\":1,\"new\":5}\n"));
	assert_false(is_line_read_plainly("{\"kind\":\"sample\",\"elapsed_seconds\":1,"
					  "\"minflt\":5,\"cpu_seconds\":1}\n"));
	assert_false(is_line_read_plainly(PROCESS_SAMPLE "\"minflt\":5}"));
	assert_false(is_line_read_plainly(PROCESS_SAMPLE "\"ppid\":1,\"cpu_seconds\":1}"));
	assert_false(is_line_read_plainly(PROCESS_SAMPLE "\"cpu_seconds\":\"1\"}"));
}

/* line_may_be() would take it for one, and the tree for the other. */
static void line_of_two_kinds_is_refused(void **state)
{
	static const char *const lines[] = {
		"{\"kind\":\"sample\",\"elapsed_seconds\":1,\"kind\":\"meta\",\"version\":\"1\"}",
		"{\"kind\":\"process\",\"pid\":3,\"kind\":\"summary\"}",
		"{\"kind\":\"event\",\"kind\":\"other\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct line l = { 0 };

		assert_int_equal(line_read(&l, lines[i], strlen(lines[i])), -EBADMSG);
		assert_false(is_read_alike(lines[i], strlen(lines[i])));
		line_done(&l);
	}
}

static void reader_goes_from_lines_with_a_tree_to_those_without_and_back(void **state)
{
	static const char sample[] = "{\"kind\":\"sample\",\"elapsed_seconds\":1,\"a\":1}\n";
	struct process p;
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_process(&p);
	write_process(&j, &p);
	assert_int_equal(line_read_quick(&l, sample, strlen(sample)), 0);
	assert_non_null(l.tree);
	assert_int_equal(line_read_quick(&l, j.text, j.used), 0);
	assert_null(l.tree);
	assert_string_equal(l.process.exe, p.exe);
	assert_int_equal(line_read_quick(&l, sample, strlen(sample)), 0);
	assert_int_equal(l.kind, LINE_SAMPLE);
	line_done(&l);
	jsonw_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_of_plain_texts_needs_no_tree),
		cmocka_unit_test(each_way_to_end_or_to_be_left_needs_no_tree),
		cmocka_unit_test(numbers_are_read_to_the_last_digit),
		cmocka_unit_test(texts_that_are_escaped_or_no_ascii_are_left_to_the_parser),
		cmocka_unit_test(line_that_bpfmon_would_not_write_is_left_to_the_parser),
		cmocka_unit_test(damaged_line_is_read_as_the_parser_reads_it),
		cmocka_unit_test(samples_need_no_tree),
		cmocka_unit_test(samples_of_another_bpfmon_are_left_to_the_parser),
		cmocka_unit_test(line_of_two_kinds_is_refused),
		cmocka_unit_test(reader_goes_from_lines_with_a_tree_to_those_without_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
