// SPDX-License-Identifier: BSD-2-Clause
/* Runs of a node that are open at once, continued, or have steps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "open_run_fixture.h"

static void put_sample(struct open_run *run, uint64_t seconds, uint64_t rss)
{
	struct sample smp = { .elapsed_ns = seconds * NSEC_PER_SEC };

	sample_set(&smp, M_cpu, seconds);
	sample_set(&smp, M_rss, rss);
	open_run_take_sample(run, &smp);
}

static void run_is_found_by_its_id_alone(void **state)
{
	struct open_run *a, *b;

	(void)state;
	a = open_runs_add(&runs, UUID_1);
	b = open_runs_add(&runs, UUID_2);
	assert_ptr_equal(open_runs_find(&runs, UUID_1), a);
	assert_ptr_equal(open_runs_find(&runs, UUID_2), b);
	assert_null(open_runs_find(&runs, UUID "03"));
	assert_null(open_runs_add(&runs, "an id that is longer than all UUIDs are"));
	open_runs_remove(&runs, &runs.first);
	assert_null(open_runs_find(&runs, UUID_2));
	assert_ptr_equal(open_runs_find(&runs, UUID_1), a);
	open_runs_done(&runs);
}

static void several_runs_are_written_in_one_transaction(void **state)
{
	struct place *p = *state;
	struct open_run *a = run_with_meta(UUID_1, META_OF("01", "")),
			*b = run_with_meta(UUID_2, META_OF("02", ""));

	begin(p->path);
	for (uint64_t s = 1; s <= 100; s++) {
		put_sample(a, s, 4096);
		put_sample(b, s, 8192);
		assert_int_equal(open_run_write(a, &w), 0);
		assert_int_equal(open_run_write(b, &w), 0);
		commit();
	}
	a->summary = strdup(SUMMARY);
	runs.nr_ended++;
	assert_int_equal(open_run_write(a, &w), 0);
	commit();
	end();
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run"), 2);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run WHERE ended"), 1);
	assert_int_equal(ask(p->path, "SELECT wall_ns FROM run WHERE ended"), 2500000000);
	assert_int_equal(ask(p->path, "SELECT rss_peak_bytes FROM run WHERE NOT ended"), 8192);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample JOIN run ON id = run"
				      " WHERE rss_bytes = 8192 AND uuid = '" UUID_2 "'"),
			 100);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM block"), 0);
}

static void run_of_another_writer_is_gone_on_with(void **state)
{
	struct place *p = *state;
	struct open_run *run;

	keep(p->path, META_OF("01", "") SAMPLE_1);
	tell(p->path, "UPDATE run SET writer = NULL");
	run = open_runs_add(&runs, UUID_1); /* its meta line went to the other one */
	begin(p->path);
	put_sample(run, 2, 1024);
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	end();
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run WHERE writer IS NOT NULL"), 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample WHERE run = 1"), 2);
	assert_int_equal(ask(p->path, "SELECT rss_peak_bytes FROM run"), 4096);
}

/* Writes a sample of the run after its meta line has changed. */
static void rename_and_write(struct open_run *run, uint64_t seconds, const char *meta)
{
	free(run->meta);
	run->meta = strdup(meta);
	run->has_new_meta = true;
	put_sample(run, seconds, 1024);
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	assert_false(run->has_new_meta);
}

static void name_that_is_found_later_is_set_unless_a_user_has_set_another(void **state)
{
	struct place *p = *state;
	struct open_run *run = run_with_meta(UUID_1, META_OF("01", "\"name\":\"7311\","));

	begin(p->path);
	put_sample(run, 1, 1024);
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	rename_and_write(run, 2, META_OF("01", "\"name\":\"align\","));
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run JOIN run_text ON id = run WHERE "
				      "name = 'align' AND meta LIKE '%\"name\":\"align\"%'"),
			 1);
	assert_int_equal(database_runf(&w.d, "UPDATE run SET edited_time_ns = 5"), 0);
	rename_and_write(run, 3, META_OF("01", "\"name\":\"other\","));
	end();
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run WHERE name = 'align'"), 1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample"), 3);
}

static void run_without_a_meta_line_anywhere_is_not_written(void **state)
{
	struct place *p = *state;
	struct open_run *run = open_runs_add(&runs, UUID_1);

	begin(p->path);
	put_sample(run, 1, 1024);
	assert_true(open_run_is_due(run, 0));
	assert_int_equal(open_run_write(run, &w), 0);
	assert_false(open_run_is_due(run, 0));
	commit();
	end();
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run"), 0);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample"), 0);
}

static void after_an_undone_transaction_nothing_is_missing(void **state)
{
	struct place *p = *state;
	struct open_run *run = run_with_meta(UUID_1, META_OF("01", ""));

	begin(p->path);
	put_sample(run, 1, 9000);
	assert_int_equal(open_run_write(run, &w), 0);
	store_writer_select(&w, NULL);
	store_writer_undo(&w);
	open_run_settle(run, false);
	assert_int_equal(store_writer_begin(&w), 0);
	put_sample(run, 2, 1000);
	run->summary = strdup(SUMMARY);
	runs.nr_ended++;
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	end();
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run WHERE ended"), 1);
	assert_int_equal(ask(p->path, "SELECT rss_bytes FROM sample WHERE elapsed_ns = 2000000000"),
			 9000);
}

static void run_that_has_vanished_is_unfinished(void **state)
{
	struct place *p = *state;
	struct open_run *run = run_with_meta(UUID_1, META_OF("01", ""));

	begin(p->path);
	put_sample(run, 1, 9000);
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	assert_false(open_run_is_due(run, 0));
	run->has_vanished = true;
	assert_true(open_run_is_due(run, 0));
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	end();
	assert_int_equal(
		ask(p->path, "SELECT count(*) FROM run WHERE writer IS NULL AND NOT ended"), 1);
}

#define META_OF_CGROUP(digits, start, cgroup, adopted)                                             \
	"{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"" UUID digits                        \
	"\",\"job\":\"slurm/1\",\"start_time\":" start                                             \
	",\"node_job\":{\"id\":\"slurm/1\",\"kind\":\"slurm\",\"cgroup_id\":" cgroup adopted "}}"

/* An agent measures the cgroup for @seconds and is killed, or at last writes a summary. */
static void measure(const char *path, const char *uuid, const char *meta, uint64_t seconds,
		    uint64_t rss, const char *summary)
{
	struct open_run *run = run_with_meta(uuid, meta);

	begin(path);
	for (uint64_t s = 1; s <= seconds; s++) {
		put_sample(run, s, rss);
		assert_int_equal(open_run_write(run, &w), 0);
		commit();
	}
	if (summary) {
		open_run_take_summary(run, strdup(summary));
		runs.nr_ended++;
		assert_int_equal(open_run_write(run, &w), 0);
		commit();
	}
	end();
	/* of a process that has ended; the boot and the namespace stay */
	tell(path, "UPDATE run SET writer = substr(writer, 1, instr(writer, ']')) || ' 1 1',"
		   " seen_time_ns = start_time_ns + wall_ns");
}

#define SUMMARY_OF_PART                                                                            \
	"{\"kind\":\"summary\",\"complete\":true,\"losses\":{},\"wall_seconds\":7,"                \
	"\"cpu_seconds\":7,\"forks\":2,\"processes_total\":3,\"rss_peak_bytes\":2048,"             \
	"\"rss_peak_elapsed_seconds\":1,\"cores_peak\":1,\"programs\":[]}"

static void run_of_an_agent_that_was_killed_is_continued(void **state)
{
	struct place *p = *state;

	measure(p->path, UUID_1, META_OF_CGROUP("01", "1000.5", "77", ""), 5, 4096, NULL);
	/* another boot, another cgroup, another job: each a run of its own */
	measure(p->path, UUID "05", META_OF_CGROUP("05", "1001", "78", ""), 1, 1, NULL);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run"), 2);
	measure(p->path, UUID_2, META_OF_CGROUP("02", "1010.5", "77", ",\"adopted\":true"), 7, 2048,
		SUMMARY_OF_PART);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run"), 2);
	assert_int_equal(ask(p->path, "SELECT id FROM run WHERE uuid = '" UUID_2 "' AND ended AND"
				      " NOT complete AND start_time_ns = 1000500000000"),
			 1);
	assert_int_equal(ask(p->path, "SELECT wall_ns FROM run WHERE id = 1"), 17000000000);
	assert_int_equal(ask(p->path, "SELECT cpu_ns FROM run WHERE id = 1"), 7000000005);
	assert_int_equal(ask(p->path, "SELECT rss_peak_bytes FROM run WHERE id = 1"), 4096);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample WHERE run = 1"), 12);
	assert_int_equal(ask(p->path, "SELECT cpu_ns FROM sample WHERE run = 1 AND elapsed_ns ="
				      " 11000000000"),
			 6);
	assert_int_equal(ask(p->path, "SELECT json_extract(meta, '$.continued.unmeasured_seconds')"
				      " FROM run_text WHERE run = 1"),
			 5);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run_text WHERE meta LIKE '%adopted%'"),
			 0);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run_text WHERE summary LIKE '%no agent"
				      " measured it for 5.0 s%'"),
			 1);
}

static void run_of_an_agent_that_was_stopped_is_continued_twice(void **state)
{
	struct place *p = *state;
	static const char stopped[] =
		"{\"kind\":\"summary\",\"complete\":false,\"losses\":{},\"reason\":\"stopped\","
		"\"wall_seconds\":5,\"cpu_seconds\":5,\"processes_total\":1,\"programs\":[]}";

	measure(p->path, UUID_1, META_OF_CGROUP("01", "1000", "77", ""), 5, 4096, stopped);
	measure(p->path, UUID_2, META_OF_CGROUP("02", "1010", "77", ""), 7, 2048, NULL);
	assert_int_equal(ask(p->path, "SELECT ended FROM run"), 0);
	measure(p->path, UUID "03", META_OF_CGROUP("03", "1020", "77", ""), 7, 2048,
		SUMMARY_OF_PART);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run WHERE complete = 0"), 1);
	assert_int_equal(ask(p->path, "SELECT cpu_ns FROM run"), 7000000012);
	assert_int_equal(ask(p->path, "SELECT wall_ns FROM run"), 27000000000);
	assert_int_equal(ask(p->path, "SELECT json_extract(meta, '$.continued.unmeasured_seconds')"
				      " FROM run_text"),
			 8);
	/* one that has ended, or of another boot, is not */
	measure(p->path, UUID "04", META_OF_CGROUP("04", "1030", "79", ""), 1, 1, SUMMARY_OF_PART);
	measure(p->path, UUID "05", META_OF_CGROUP("05", "1040", "79", ""), 1, 1, NULL);
	tell(p->path, "UPDATE run SET writer = 'x' || writer");
	measure(p->path, UUID "06", META_OF_CGROUP("06", "1050", "79", ""), 1, 1, NULL);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM run"), 4);
}

static void continued_run_goes_on_after_another_writer_and_an_undone_transaction(void **state)
{
	struct place *p = *state;
	const char *meta = META_OF_CGROUP("02", "1010", "77", "");
	struct open_run *run;

	measure(p->path, UUID_1, META_OF_CGROUP("01", "1000", "77", ""), 5, 4096, NULL);
	run = run_with_meta(UUID_2, meta);
	begin(p->path);
	put_sample(run, 1, 1);
	assert_int_equal(open_run_write(run, &w), 0);
	store_writer_select(&w, NULL);
	store_writer_undo(&w);
	open_run_settle(run, false);
	assert_int_equal(store_writer_begin(&w), 0);
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	end();
	measure(p->path, UUID_2, meta, 3, 1, SUMMARY_OF_PART);
	assert_int_equal(ask(p->path, "SELECT cpu_ns FROM run"), 7000000005);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample"), 8);
	assert_int_equal(ask(p->path, "SELECT cpu_ns FROM sample WHERE elapsed_ns = 12000000000"),
			 7);
}

static void step_is_a_span_also_after_another_writer(void **state)
{
	struct place *p = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct open_run *run = run_with_meta(UUID_1, META_OF("01", ""));

		begin(p->path);
		assert_true(open_run_take_step(run, 5000000000, "1.0", strdup(SUMMARY_OF_PART)));
		assert_true(open_run_take_step(run, 6000000000, "1.1", strdup(SUMMARY_OF_PART)));
		assert_true(open_run_is_due(run, 0));
		assert_int_equal(open_run_write(run, &w), 0);
		commit();
		assert_false(open_run_is_due(run, 0));
		end();
	}
	assert_int_equal(ask(p->path, "SELECT count(*) FROM span"), 4);
	assert_int_equal(ask(p->path, "SELECT count(DISTINCT id) FROM span"), 4);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM span WHERE name = '1.1' AND cpu_ns ="
				      " 7000000000 AND start_time_ns = 6000000000 AND"
				      " end_time_ns = 13000000000"),
			 2);
}

static void short_run_is_not_due(void **state)
{
	struct open_run *run = run_with_meta(UUID_1, "");

	(void)state;
	assert_true(open_run_is_due(run, 0));
	assert_false(open_run_is_due(run, 5 * NSEC_PER_SEC));
	put_sample(run, 4, 1);
	assert_false(open_run_is_due(run, 5 * NSEC_PER_SEC));
	put_sample(run, 5, 1);
	assert_true(open_run_is_due(run, 5 * NSEC_PER_SEC));
	open_runs_done(&runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_is_found_by_its_id_alone),
		PLACE_TEST(several_runs_are_written_in_one_transaction),
		PLACE_TEST(run_of_another_writer_is_gone_on_with),
		PLACE_TEST(name_that_is_found_later_is_set_unless_a_user_has_set_another),
		PLACE_TEST(run_without_a_meta_line_anywhere_is_not_written),
		PLACE_TEST(after_an_undone_transaction_nothing_is_missing),
		PLACE_TEST(run_that_has_vanished_is_unfinished),
		PLACE_TEST(run_of_an_agent_that_was_killed_is_continued),
		PLACE_TEST(run_of_an_agent_that_was_stopped_is_continued_twice),
		PLACE_TEST(continued_run_goes_on_after_another_writer_and_an_undone_transaction),
		PLACE_TEST(step_is_a_span_also_after_another_writer),
		cmocka_unit_test(short_run_is_not_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
