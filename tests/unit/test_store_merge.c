// SPDX-License-Identifier: BSD-2-Clause
/* Merges that end after any of their commits, or that others disturb there. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/database_open.h"
#include "merge_fixture.h"
#include "sweep.h"

#include <errno.h>

#define MOST_COMMITS 40

static void merge_or_die(const char *store, const char *source, struct disturbance *x)
{
	if (merge_disturbed(store, source, x))
		_exit(1);
}

static void assert_has_all_of(const char *store, bool has_ended)
{
	assert_int_equal(ask(store, "SELECT count(*) FROM run"), 1);
	assert_int_equal(ask(store, "SELECT count(*) FROM sample"), SAMPLES);
	assert_int_equal(ask(store, "SELECT count(*) FROM process"), PROCESSES);
	assert_int_equal(ask(store, "SELECT count(*) FROM block"), SAMPLES / 64);
	assert_int_equal(ask(store, "SELECT ended FROM run"), has_ended);
	assert_int_equal(ask(store, OF_NO_RUN), 0);
}

/* After every commit of the merge of @source into a store that has the run as @old knows it. */
static void assert_any_death_is_made_good(const struct place *p, const char *old,
					  const char *source, bool has_ended)
{
	const struct sweep_part part = sweep_choose(16);
	char store[200];
	bool has_died = true;
	int at;

	for (at = 1; has_died && at < MOST_COMMITS; at++) {
		if (!sweep_has(part, (unsigned long)at))
			continue;
		snprintf(store, sizeof(store), "%s/%d.sqlite", p->dir, at);
		if (old)
			merge(store, old);
		has_died = dies(store, source, at, merge_or_die);
		assert_int_equal(ask(store, OF_NO_RUN), 0);
		assert_int_equal(ask(store, "SELECT count(*) FROM run WHERE ended AND"
					    " (SELECT count(*) FROM process) < 5500"),
				 0);
		merge(store, source);
		assert_has_all_of(store, has_ended);
		assert_int_equal(remove(store), 0);
	}
	assert_in_range(at, 5, MOST_COMMITS - 1);
}

static void assert_any_death_with(const struct place *p, const char *old, const char *name,
				  bool is_store)
{
	char first[200], source[200], other[200];

	make_files(p);
	snprintf(first, sizeof(first), "%s/%s", p->dir, old ? old : "");
	snprintf(source, sizeof(source), "%s/%s", p->dir, name);
	snprintf(other, sizeof(other), "%s/other.sqlite", p->dir);
	if (is_store)
		merge(other, source);
	assert_any_death_is_made_good(p, old ? first : NULL, is_store ? other : source,
				      !strcmp(name, "whole"));
}

static void file_whose_merge_died_anywhere_is_taken_over_by_the_next(void **state)
{
	assert_any_death_with(*state, NULL, "whole", false);
}

static void file_that_is_cut_off_is_taken_over_by_the_next(void **state)
{
	assert_any_death_with(*state, NULL, "cut", false);
}

static void run_renewed_from_a_file_never_leaves_rows_without_a_run(void **state)
{
	assert_any_death_with(*state, "old", "whole", false);
}

static void run_renewed_from_a_store_never_leaves_rows_without_a_run(void **state)
{
	assert_any_death_with(*state, "old", "whole", true);
}

static void edit(const char *store, const char *name, uint64_t epoch_ns)
{
	const char *const tags[] = { "by=edit" };
	const struct meta_changes c = { name, NULL, tags, 1, epoch_ns };
	struct database d;

	assert_int_equal(database_open(&d, store, DATABASE_CHANGE), 0);
	assert_int_equal(store_edit_run(&d, 1, &c), 0);
	database_close(&d);
}

/* In the row, the tags and the line alike. */
static void assert_is_called(const char *store, const char *name, int64_t edited_s)
{
	char sql[400];

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM run JOIN run_text AS t ON id=t.run JOIN tag ON tag.run=id "
		 "WHERE"
		 " name='%s' AND json_extract(meta,'$.name')='%s' AND key='by' AND value='edit' AND"
		 " json_extract(meta,'$.tags.by')='edit' AND edited_time_ns=%lld AND"
		 " json_extract(meta,'$.edited_time')=%lld",
		 name, name, (long long)(edited_s * 1000000000), (long long)edited_s);
	assert_int_equal(ask(store, sql), 1);
}

/*
 * The run of which a part is here, edited at @here_s, is renewed from the store that has all of it,
 * edited at @there_s; after each commit of the merge, and after the next one, the later words
 * count.
 */
static void assert_later_words_survive(const struct place *p, int64_t here_s, int64_t there_s)
{
	const char *name = here_s > there_s ? "here" : "there";
	int64_t later_s = here_s > there_s ? here_s : there_s;
	const struct sweep_part part = sweep_choose(16);
	char store[200], old[200], whole[200], other[200];
	bool has_died = true;
	int at;

	make_files(p);
	snprintf(old, sizeof(old), "%s/old", p->dir);
	snprintf(whole, sizeof(whole), "%s/whole", p->dir);
	snprintf(other, sizeof(other), "%s/other.sqlite", p->dir);
	merge(other, whole);
	edit(other, "there", (uint64_t)there_s * 1000000000);
	for (at = 1; has_died && at < MOST_COMMITS; at++) {
		if (!sweep_has(part, (unsigned long)at))
			continue;
		snprintf(store, sizeof(store), "%s/%d.sqlite", p->dir, at);
		merge(store, old);
		edit(store, "here", (uint64_t)here_s * 1000000000);
		has_died = dies(store, other, at, merge_or_die);
		assert_is_called(store, name, later_s);
		merge(store, other);
		assert_is_called(store, name, later_s);
		assert_has_all_of(store, true);
		assert_int_equal(remove(store), 0);
	}
	assert_in_range(at, 5, MOST_COMMITS - 1);
}

static void words_that_were_edited_later_here_survive_any_death(void **state)
{
	assert_later_words_survive(*state, 2000, 1000);
}

static void words_that_were_edited_later_there_are_taken_at_once(void **state)
{
	assert_later_words_survive(*state, 1000, 2000);
}

/* After every commit; then the merge fails or begins anew, and never adds to what is gone. */
static void assert_removal_is_noticed(const struct place *p, const char *source)
{
	char store[200];
	struct disturbance x = { .path = store };
	int failed = 0;

	for (x.at = 1; x.at < MOST_COMMITS && x.commits >= x.at - 1; x.at++) {
		x.commits = 0;
		snprintf(store, sizeof(store), "%s/%d.sqlite", p->dir, x.at);
		failed += merge_disturbed(store, source, &x) == -ESTALE;
		assert_int_equal(ask(store, OF_NO_RUN), 0);
		assert_int_equal(remove(store), 0);
	}
	assert_in_range(failed, 2, MOST_COMMITS);
}

static void run_that_is_removed_meanwhile_gets_no_more_rows_from_a_file(void **state)
{
	const struct place *p = *state;
	char source[200];

	make_files(p);
	snprintf(source, sizeof(source), "%s/whole", p->dir);
	assert_removal_is_noticed(p, source);
}

static void run_that_is_removed_meanwhile_gets_no_more_rows_from_a_store(void **state)
{
	const struct place *p = *state;
	char source[200], other[200];

	make_files(p);
	snprintf(source, sizeof(source), "%s/whole", p->dir);
	snprintf(other, sizeof(other), "%s/other.sqlite", p->dir);
	merge(other, source);
	assert_removal_is_noticed(p, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(file_whose_merge_died_anywhere_is_taken_over_by_the_next),
		PLACE_TEST(file_that_is_cut_off_is_taken_over_by_the_next),
		PLACE_TEST(run_renewed_from_a_file_never_leaves_rows_without_a_run),
		PLACE_TEST(run_renewed_from_a_store_never_leaves_rows_without_a_run),
		PLACE_TEST(words_that_were_edited_later_here_survive_any_death),
		PLACE_TEST(words_that_were_edited_later_there_are_taken_at_once),
		PLACE_TEST(run_that_is_removed_meanwhile_gets_no_more_rows_from_a_file),
		PLACE_TEST(run_that_is_removed_meanwhile_gets_no_more_rows_from_a_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
