// SPDX-License-Identifier: BSD-2-Clause
/* Runs of a node that are open at once, and how many samples of each are kept. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_fixture.h"
#include "base/clock.h"
#include "agent/recording.h"

#include <errno.h>

#define UUID_1 UUID "01"
#define UUID_2 UUID "02"
#define YEAR_S (365ULL * 24 * 3600)

static struct open_runs runs;
static struct store_writer w;

static void begin(const char *path)
{
	assert_int_equal(store_writer_open(&w, path), 0);
	assert_int_equal(store_writer_begin(&w), 0);
}

static void commit(void)
{
	store_writer_select(&w, NULL);
	assert_int_equal(store_writer_commit(&w, 0), 0);
	for (struct open_run *run = runs.first; run; run = run->next)
		open_run_settle(run, true);
	assert_int_equal(store_writer_begin(&w), 0);
}

static void end(void)
{
	store_writer_undo(&w);
	store_writer_close(&w);
	open_runs_done(&runs);
	assert_int_equal(runs.nr, 0);
	assert_int_equal(runs.nr_ended, 0);
}

static struct open_run *run_with_meta(const char *uuid, const char *meta)
{
	struct open_run *run = open_runs_add(&runs, uuid);

	assert_non_null(run);
	run->meta = strdup(meta);
	return run;
}

static void put_sample(struct open_run *run, uint64_t seconds, uint64_t rss)
{
	struct sample smp = { .elapsed_ns = seconds * NSEC_PER_SEC };

	sample_set(&smp, M_cpu, seconds);
	sample_set(&smp, M_rss, rss);
	sample_cover(&run->waiting, &smp);
	run->has_waiting = true;
	run->elapsed_ns = smp.elapsed_ns;
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
	assert_int_equal(ask(p->path, "SELECT count(*) FROM block"), 2);
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

static void samples_of_a_long_run_are_few_and_none_is_far(void **state)
{
	struct open_run *run = run_with_meta(UUID_1, "");
	uint64_t kept = 0, last = 0;

	(void)state;
	run->kept.id = 1;
	for (uint64_t s = 1; s <= YEAR_S; s += s < 100000 ? 1 : 100) {
		put_sample(run, s, s);
		if (!open_run_is_due(run, 0))
			continue;
		if (s <= 1000)
			assert_int_equal(s, last + 1);
		assert_true(s - last <= s / 1000 + 100);
		last = s;
		kept++;
		open_run_settle(run, true);
	}
	assert_in_range(kept, 5000, 12000);
	open_runs_done(&runs);
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
		cmocka_unit_test(samples_of_a_long_run_are_few_and_none_is_far),
		cmocka_unit_test(short_run_is_not_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
