// SPDX-License-Identifier: BSD-2-Clause
/* What a process leaves of its tallies, and what the next one makes of that. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/resume.h"
#include "summary_fixture.h"

#include <stdlib.h>

static struct metric_set usable;
static uint64_t seed = 1;

static uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

/* Fills in what no line has. */
static void tally_fill(struct tally *t)
{
	struct needed_seen *seen = &t->summary.seen;

	t->bound.since_ns = random_below(1ULL << 40);
	t->bound.before_ns = random_below(1ULL << 40);
	t->bound.last_pages = random_below(1000);
	t->bound.peak_pages = random_below(1000);
	t->bound.mark_fell = random_below(2);
	t->forgone = random_below(5);
	seen->has_pss = random_below(2);
	seen->pss_bytes = random_below(1ULL << 40);
	seen->sample_rss_bytes = random_below(1ULL << 40);
	t->bound.held.all = calloc(2, sizeof(struct holding));
	t->bound.held.nr = t->bound.held.room = 2;
	t->bound.held.all[0] = (struct holding){ .start_ns = 5, .pages = 7, .mm = UINT64_MAX - 1 };
	t->bound.held.all[1] = (struct holding){ .serial = 9, .shares = true, .is_carried = true };
	for (size_t i = 0; i < sizeof(t->removed) / sizeof(__u64); i++)
		((__u64 *)&t->removed)[i] = random_below(1ULL << 50);
	t->removed.closed = 0;
}

static void tally_make(struct tally *t)
{
	metric_set_all(&usable);
	tally_init(t, &usable);
	add_sample(&t->summary, 1, M_rss, 10 * MIB);
	add_sample(&t->summary, 2, M_cpu, 3000);
	add_process(&t->summary, "/bin/a", 5, 90 * MIB);
	add_process(&t->summary, "/bin/b", 7, 10 * MIB);
	summary_add_loss(&t->summary, "tasks", 3);
	tally_fill(t);
}

/* Writes @t and reads it into @read. */
static void pass_on(const struct tally *t, struct tally *read, bool same_books)
{
	struct jsonw j = { 0 };
	json_t *o;

	jsonw_object(&j, NULL);
	tally_keep(t, &j, "tally");
	jsonw_object_end(&j);
	assert_false(j.failed);
	o = json_loadb(j.text, j.used, 0, NULL);
	assert_non_null(o);
	tally_init(read, &usable);
	assert_int_equal(tally_resume(read, json_object_get(o, "tally"), same_books), 0);
	json_decref(o);
	jsonw_done(&j);
}

static void tally_is_the_same_with_the_same_books(void **state)
{
	struct tally t, read;

	(void)state;
	for (int i = 0; i < 20; i++) {
		tally_make(&t);
		pass_on(&t, &read, true);
		assert_memory_equal(&read.removed, &t.removed, sizeof(t.removed));
		assert_memory_equal(&read.summary.seen, &t.summary.seen, sizeof(t.summary.seen));
		assert_memory_equal(read.bound.held.all, t.bound.held.all,
				    2 * sizeof(struct holding));
		assert_int_equal(read.bound.peak_pages, t.bound.peak_pages);
		assert_int_equal(read.bound.mark_fell, t.bound.mark_fell);
		assert_int_equal(read.forgone, t.forgone);
		assert_int_equal(read.summary.rss_peak_bytes, t.summary.rss_peak_bytes);
		assert_int_equal(read.summary.samples, 2);
		assert_int_equal(read.summary.nr_losses, 1);
		assert_false(read.summary.complete);
		tally_done(&t);
		tally_done(&read);
	}
}

static void program_goes_on_being_one(void **state)
{
	struct tally t, read;

	(void)state;
	tally_make(&t);
	pass_on(&t, &read, true);
	add_process(&read.summary, "/bin/a", 6, 20 * MIB);
	add_process(&read.summary, "/bin/c", 1, MIB);
	assert_int_equal(read.summary.nr_programs, 3);
	assert_int_equal(read.summary.programs[0].processes, 2);
	tally_done(&t);
	tally_done(&read);
}

static void new_books_add_what_was_counted(void **state)
{
	struct tally t, read;

	(void)state;
	tally_make(&t);
	t.summary.total.value[M_forks] = 10;
	t.summary.total.value[M_exits] = 8;
	metric_put(&t.summary.total.have, M_forks);
	metric_put(&t.summary.total.have, M_exits);
	t.summary.processes_total = 12;
	pass_on(&t, &read, false);
	assert_int_equal(read.removed.cpu, 3000);
	assert_int_equal(read.removed.forks, 10);
	/* four are alive, and counted again in the new books */
	assert_int_equal(processes_born(&read.removed), 8);
	account_make_consistent(&read.removed);
	assert_int_equal(read.removed.processes, 0);
	tally_done(&t);
	tally_done(&read);
}

static void state_of_another_kind_is_an_error(void **state)
{
	static const char *const texts[] = { "{}", "{\"summary\":7}",
					     "{\"summary\":\"{\\\"kind\\\":\\\"sample\\\"}\"}" };
	struct tally t;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		json_t *o = json_loads(texts[i], 0, NULL);

		assert_non_null(o);
		tally_init(&t, &usable);
		assert_int_not_equal(tally_resume(&t, o, true), 0);
		tally_done(&t);
		json_decref(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tally_is_the_same_with_the_same_books),
		cmocka_unit_test(program_goes_on_being_one),
		cmocka_unit_test(new_books_add_what_was_counted),
		cmocka_unit_test(state_of_another_kind_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
