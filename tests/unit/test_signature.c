// SPDX-License-Identifier: BSD-2-Clause
/* The signature of a run: its figures, what is absent, and the store that has it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/signature.h"
#include "store/database_open.h"
#include "store/edit.h"
#include "store/signatures.h"
#include "store/merge.h"
#include "store/remove.h"
#include "merge_fixture.h"

#include <errno.h>

#define SUMMARY_OF(wall, cpu, faults)                                                              \
	"{\"kind\":\"summary\",\"complete\":true,\"losses\":{},\"exit_code\":0,\"signal\":null,"   \
	"\"wall_seconds\":" wall ",\"samples\":2,\"processes_total\":2,\"cpu_seconds\":" cpu       \
	",\"user_seconds\":" cpu ",\"minflt\":" faults ",\"execs\":1,\"programs\":["               \
	"{\"exe\":\"/bin/cc\",\"processes\":1,\"cpu_seconds\":3},"                                 \
	"{\"exe\":\"/opt/cc\",\"processes\":1,\"cpu_seconds\":3},"                                 \
	"{\"exe\":\"/bin/as\",\"processes\":1,\"cpu_seconds\":2}]}\n"
#define SCHEMA "\"schema\":\"bpfmon/1\","
#define TEXTS META_OF("01", SCHEMA) SAMPLE_1 SUMMARY_OF("4", "1", "255")

static struct signature signature_of(const char *path, const char *text)
{
	char uuid[SIGNED_UUID_BYTES];
	struct signature g;
	struct source s;

	file_write(path, text);
	assert_int_equal(source_open_file(&s, path), 0);
	assert_int_equal(signed_run_read(&s, &g, uuid, NULL), 0);
	assert_string_equal(uuid, UUID "01");
	source_close(&s);
	return g;
}

static void figures_are_per_cpu_second_on_a_log_scale(void **state)
{
	const struct place *p = *state;
	struct signature g = signature_of(p->path, TEXTS);

	assert_int_equal(g.milli[SIGNATURE_user_share], 1000);
	assert_int_equal(g.milli[SIGNATURE_cores], -2000); /* a quarter of a core */
	assert_int_equal(g.milli[SIGNATURE_minflt], 8000); /* log2(1 + 255) */
	assert_int_equal(g.milli[SIGNATURE_processes], 1000);
	assert_int_equal(g.milli[SIGNATURE_execs], 500);
}

static void run_of_twice_the_size_has_the_same_signature(void **state)
{
	const struct place *p = *state;
	struct signature g = signature_of(p->path, TEXTS);
	struct signature twice =
		signature_of(p->path, META_OF("01", SCHEMA) SAMPLE_1 SUMMARY_OF("8", "2", "510"));

	assert_int_equal(twice.milli[SIGNATURE_cores], g.milli[SIGNATURE_cores]);
	assert_int_equal(twice.milli[SIGNATURE_minflt], g.milli[SIGNATURE_minflt]);
	assert_int_equal(twice.milli[SIGNATURE_user_share], g.milli[SIGNATURE_user_share]);
}

static void run_that_waited_for_a_cpu_has_the_cores_that_it_could_have_used(void **state)
{
	const struct place *p = *state;
	struct signature g =
		signature_of(p->path, META_OF("01", SCHEMA) SAMPLE_1 SUMMARY_OF(
					      "4", "1,\"runqueue_wait_seconds\":1", "255"));

	assert_int_equal(g.milli[SIGNATURE_cores], -1000); /* a half of a core */
}

static void what_was_not_read_is_absent(void **state)
{
	const struct place *p = *state;
	struct signature g = signature_of(p->path, TEXTS);

	assert_false(g.has[SIGNATURE_nvcsw]);
	assert_false(g.has[SIGNATURE_blocked_share]);
	assert_false(g.has[SIGNATURE_read_size]);
	assert_false(g.has[SIGNATURE_memory_anon]);
	assert_false(g.has[SIGNATURE_memory_1]); /* one sample is no course */
}

static void programs_are_base_names_with_shares_of_their_time(void **state)
{
	const struct place *p = *state;
	struct signature g = signature_of(p->path, TEXTS), read = { 0 };
	char text[SIGNATURE_TEXT_BYTES];

	signature_format_programs(&g, text);
	assert_string_equal(text, "750 cc/250 as");
	signature_parse_programs(&read, text);
	assert_int_equal(read.nr_programs, 2);
	assert_memory_equal(read.program, g.program, sizeof(g.program));
	assert_int_equal(g.milli[SIGNATURE_program_share], 750);
	assert_int_equal(g.milli[SIGNATURE_programs_used], 1000);
}

static void text_that_is_none_has_no_programs(void **state)
{
	struct signature g;

	(void)state;
	signature_parse_programs(&g, "cc");
	assert_int_equal(g.nr_programs, 0);
	signature_parse_programs(&g, "0 cc");
	assert_int_equal(g.nr_programs, 0);
	signature_parse_programs(&g, "5000 cc");
	assert_int_equal(g.nr_programs, 0);
	signature_parse_programs(&g, "500 cc/");
	assert_int_equal(g.nr_programs, 1);
	signature_parse_programs(&g, NULL);
	assert_int_equal(g.nr_programs, 0);
	signature_parse_programs(&g, "9 a/9 b/9 c/9 d/9 e/9 f/9 g/9 h/9 i");
	assert_int_equal(g.nr_programs, SIGNATURE_PROGRAMS);
}

static void memory_put(struct memory_shape *m, uint64_t from, uint64_t nr)
{
	struct sample smp = { 0 };

	for (uint64_t i = from; i < from + nr; i++) {
		smp.elapsed_ns = i * 1000;
		sample_set(&smp, M_rss, i * MIB);
		memory_shape_add(m, &smp);
	}
}

static void memory_is_on_straight_lines_between_few_points(void **state)
{
	struct memory_shape m = { 0 };

	(void)state;
	memory_put(&m, 1, 2);
	assert_true(memory_shape_at(&m, 0) == 1. * MIB);
	assert_true(memory_shape_at(&m, 1500) == 1.5 * MIB);
	assert_true(memory_shape_at(&m, 9000) == 2. * MIB);
	memory_put(&m, 3, 100000);
	assert_in_range(m.nr, MEMORY_SHAPE_POINTS / 2, MEMORY_SHAPE_POINTS);
	assert_true(memory_shape_at(&m, 5e7) / MIB > 49000);
	assert_true(memory_shape_at(&m, 5e7) / MIB < 51000);
	assert_true(m.largest_bytes == 100002 * MIB);
}

static void store_has_it_from_the_end_of_a_run_on(void **state)
{
	const struct place *p = *state;

	keep(p->path, TEXTS);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM signature"), 1);
	assert_int_equal(ask(p->path, "SELECT minflt_milli FROM signature"), 8000);
	assert_int_equal(ask(p->path, "SELECT nvcsw_milli IS NULL FROM signature"), 1);
	assert_int_equal(ask(p->path, "SELECT programs='750 cc/250 as' FROM signature"), 1);
	keep(p->path, META_OF("02", "") SAMPLE_1);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM signature"), 1);
}

static int signature_count(void *context, int64_t id, const struct signature *g)
{
	(void)id;
	*(int *)context += g->milli[SIGNATURE_minflt];
	return 0;
}

static int milli_of_all(const char *path)
{
	struct database d;
	int sum = 0;

	assert_int_equal(database_open(&d, path, DATABASE_READ), 0);
	assert_int_equal(signature_each(&d, signature_count, &sum), 0);
	database_close(&d);
	return sum;
}

static void those_of_another_version_are_none(void **state)
{
	const struct place *p = *state;

	keep(p->path, TEXTS);
	assert_int_equal(milli_of_all(p->path), 8000);
	tell(p->path, "UPDATE signature SET version=version+1");
	assert_int_equal(milli_of_all(p->path), 0);
}

static void signature_that_a_store_lacks_is_worked_out_and_written(void **state)
{
	const struct place *p = *state;
	struct signature g;
	struct database d;

	keep(p->path, TEXTS);
	tell(p->path, "DELETE FROM signature");
	assert_int_equal(milli_of_all(p->path), 0);
	assert_int_equal(database_open(&d, p->path, DATABASE_READ), 0);
	assert_int_equal(signed_run_of_store(&d, 1, &g), 0);
	assert_int_equal(g.milli[SIGNATURE_minflt], 8000);
	assert_int_equal(signed_run_of_store(&d, 2, &g), -ENODATA);
	database_close(&d);
	assert_int_equal(database_open(&d, p->path, DATABASE_CHANGE), 0);
	assert_int_equal(signature_write(&d, 1, &g), 0);
	assert_int_equal(signature_write(&d, 2, &g), 0); /* there is no such run */
	database_close(&d);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM signature"), 1);
}

static void merge_takes_them_over_and_remove_takes_them_away(void **state)
{
	const struct place *p = *state;
	char other[200];
	struct store_writer w;
	struct merged m = { 0 };

	snprintf(other, sizeof(other), "%s/other", p->dir);
	keep(other, TEXTS);
	keep(p->path, META_OF("02", ""));
	assert_int_equal(store_writer_open(&w, p->path), 0);
	assert_int_equal(merge_store(&w.d, other, false, store_copy_words, &m), 0);
	assert_int_equal(m.added, 1);
	assert_int_equal(ask(p->path, "SELECT run FROM signature"), 2);
	assert_int_equal(remove_run(&w.d, 2), 0);
	store_writer_close(&w);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM signature"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(figures_are_per_cpu_second_on_a_log_scale),
		PLACE_TEST(run_of_twice_the_size_has_the_same_signature),
		PLACE_TEST(run_that_waited_for_a_cpu_has_the_cores_that_it_could_have_used),
		PLACE_TEST(what_was_not_read_is_absent),
		PLACE_TEST(programs_are_base_names_with_shares_of_their_time),
		cmocka_unit_test(text_that_is_none_has_no_programs),
		cmocka_unit_test(memory_is_on_straight_lines_between_few_points),
		PLACE_TEST(store_has_it_from_the_end_of_a_run_on),
		PLACE_TEST(those_of_another_version_are_none),
		PLACE_TEST(signature_that_a_store_lacks_is_worked_out_and_written),
		PLACE_TEST(merge_takes_them_over_and_remove_takes_them_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
