// SPDX-License-Identifier: BSD-2-Clause
/* What live processes held at a sample, written and read back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/rewriter.h"
#include "wire_fixture.h"

static void fixture_process_sample(struct process_sample *p)
{
	*p = (struct process_sample){
		.elapsed_ns = 100000001,
		.pid = 4242,
		.comm = "cc",
		.start_epoch_ns = START_NS + 1000000,
	};
	process_sample_metrics(&p->have);
	fixture_values(p->value, &(struct metric_set){ 0 }, 1);
	p->value[M_rss_anon] = 2 * MIB;
	p->value[M_gpu] = 1500000000;
	p->value[M_gpu_memory] = MIB;
}

static void process_sample_is_read_back_as_it_was(void **state)
{
	struct process_sample p;
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	fixture_process_sample(&p);
	write_process_sample(&j, START_NS, &p);
	read_back(&l, &j);
	assert_int_equal(l.kind, LINE_PROCESS_SAMPLE);
	assert_int_equal(l.process_sample.elapsed_ns, p.elapsed_ns);
	assert_int_equal(l.process_sample.pid, p.pid);
	assert_string_equal(l.process_sample.comm, p.comm);
	assert_int_equal(l.process_sample.start_epoch_ns, p.start_epoch_ns);
	same_values(l.process_sample.value, &l.process_sample.have, p.value, &p.have);
	line_done(&l);
	jsonw_done(&j);
}

static void keys_are_the_published_ones(void **state)
{
	struct process_sample p;
	struct jsonw j = { 0 };

	(void)state;
	fixture_process_sample(&p);
	write_process_sample(&j, START_NS, &p);
	assert_string_equal(j.text, "{\"kind\":\"process_sample\",\"time\":1763690000.223456,"
				    "\"elapsed_seconds\":0.100000001,\"pid\":4242,\"comm\":\"cc\","
				    "\"start_time\":1763690000.124456,\"cpu_seconds\":1.234567891,"
				    "\"rss_bytes\":3145728,\"rss_anon_bytes\":2097152,"
				    "\"swap_bytes\":0,\"gpu_seconds\":1.5,"
				    "\"gpu_memory_bytes\":1048576}\n");
	jsonw_done(&j);
}

static void what_is_not_known_is_absent(void **state)
{
	struct process_sample p = { .pid = 7 };
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	p.value[M_rss] = 4096;
	metric_put(&p.have, M_rss);
	write_process_sample(&j, START_NS, &p);
	assert_null(strstr(j.text, "comm"));
	assert_null(strstr(j.text, "cpu_seconds"));
	read_back(&l, &j);
	same_values(l.process_sample.value, &l.process_sample.have, p.value, &p.have);
	assert_int_equal(l.process_sample.comm[0], 0);
	line_done(&l);
	jsonw_done(&j);
}

static void time_of_a_long_run_keeps_its_nanoseconds(void **state)
{
	struct process_sample p = { .elapsed_ns = 123456789123456789U, .pid = 7 };
	struct line l = { 0 };
	struct jsonw j = { 0 }, again = { 0 };

	(void)state;
	p.value[M_cpu] = 987654321987654321U;
	metric_put(&p.have, M_cpu);
	write_process_sample(&j, START_NS, &p);
	read_back(&l, &j);
	assert_int_equal(l.process_sample.elapsed_ns, p.elapsed_ns);
	assert_int_equal(l.process_sample.value[M_cpu], p.value[M_cpu]);
	l.start_epoch_ns = START_NS; /* a reader has it from the line before */
	rewrite_line(&again, &l);
	assert_string_equal(again.text, j.text);
	line_done(&l);
	jsonw_done(&j);
	jsonw_done(&again);
}

static void name_that_is_no_utf8_stays_lossy(void **state)
{
	struct process_sample p = { .pid = 7, .comm = "a\"\n\xff\x1b[2J" };
	struct line l = { 0 };
	struct jsonw j = { 0 }, again = { 0 };

	(void)state;
	write_process_sample(&j, START_NS, &p);
	read_back(&l, &j);
	assert_true(l.process_sample.lossy);
	assert_string_equal(l.process_sample.comm, "a\"\n\xef\xbf\xbd\x1b[2J");
	write_process_sample(&again, START_NS, &l.process_sample);
	assert_string_equal(again.text, j.text);
	line_done(&l);
	jsonw_done(&j);
	jsonw_done(&again);
}

static void name_of_nothing_but_strange_bytes_is_kept_whole(void **state)
{
	struct process_sample p = { .pid = 7 };
	struct line l = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	memset(p.comm, 0xff, 15);
	write_process_sample(&j, START_NS, &p);
	read_back(&l, &j);
	assert_int_equal(strlen(l.process_sample.comm), 45);
	line_done(&l);
	jsonw_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(process_sample_is_read_back_as_it_was),
		cmocka_unit_test(keys_are_the_published_ones),
		cmocka_unit_test(what_is_not_known_is_absent),
		cmocka_unit_test(time_of_a_long_run_keeps_its_nanoseconds),
		cmocka_unit_test(name_that_is_no_utf8_stays_lossy),
		cmocka_unit_test(name_of_nothing_but_strange_bytes_is_kept_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
