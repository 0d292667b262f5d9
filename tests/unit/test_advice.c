// SPDX-License-Identifier: BSD-2-Clause
/* What to request, from runs that held GPUs and from runs that held none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "study/advice.h"

#define SECOND 1000000000LL
#define GIB (1LL << 30)
#define NR 3

/* Runs of 100 s that used a core, 1 GiB, and GPUs as their summaries say. */
static void advice_of(struct advice *a, const char *const summaries[NR])
{
	struct stored_run runs[NR];
	struct run_request requests[NR];
	const struct stored_runs all = { .runs = runs, .nr = NR };
	const struct advice_from from = { .requests = requests, .nr_requests = NR };

	for (size_t i = 0; i < NR; i++) {
		runs[i] = (struct stored_run){ .state = RUN_FINISHED,
					       .is_complete = true,
					       .wall_ns = 100 * SECOND,
					       .cpu_ns = 100 * SECOND,
					       .rss_peak_bytes = GIB };
		requests[i] = RUN_REQUEST_UNKNOWN;
		run_request_read_summary(&requests[i], summaries[i]);
	}
	assert_int_equal(advice_make(a, &all, &from), 0);
}

static const char *const of_gpus[NR] = {
	"{\"gpus_held_peak\":2,\"gpus_used_peak\":1.42,\"gpu_memory_peak_bytes\":1073741824,"
	"\"gpu_seconds\":100}",
	"{\"gpus_held_peak\":1,\"gpus_used_peak\":0.5,\"gpu_memory_peak_bytes\":2147483648,"
	"\"gpu_seconds\":20}",
	"{}",
};
static const char *const of_amd[NR] = {
	"{\"gpus_held_peak\":1,\"gpus_used_peak\":1,\"gpu_seconds\":9,"
	"\"by\":{\"gpu\":{\"0000:03:00.0\":{\"gpu_seconds\":9}}}}",
	"{\"gpus_held_peak\":1,\"gpus_used_peak\":1,\"gpu_seconds\":9,"
	"\"by\":{\"gpu\":{\"GPU-a\":{\"gpu_seconds\":9}}}}",
	"{}",
};
static const char *const of_none[NR] = { "{\"gpu_seconds\":0}", "{}", "{\"gpu_seconds\":0}" };
static const char *const of_idle[NR] = { "{\"gpus_held_peak\":2,\"gpu_seconds\":0}", "{}", "{}" };

/* To be freed. */
static char *text_of(const char *const summaries[NR], enum advice_for to)
{
	struct advice a;
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	advice_of(&a, summaries);
	if (to)
		advice_lines(f, &a, to);
	else
		advice_print(f, &a, NULL);
	fclose(f);
	return text;
}

static void assert_has(const char *const summaries[NR], enum advice_for to, const char *part)
{
	char *text = text_of(summaries, to);

	if (!strstr(text, part))
		fail_msg("no '%s' in %s", part, text);
	free(text);
}

static void assert_has_no(const char *const summaries[NR], enum advice_for to, const char *part)
{
	char *text = text_of(summaries, to);

	if (strstr(text, part))
		fail_msg("'%s' is in %s", part, text);
	free(text);
}

static void gpus_are_the_most_that_a_run_used_at_one_time(void **state)
{
	struct advice a;

	(void)state;
	advice_of(&a, of_gpus);
	assert_int_equal(a.nr_gpus, 2);
	assert_int_equal(a.gpus.median, 500);
	assert_int_equal(a.gpus.largest, 1420);
	assert_int_equal(a.gpus_request, 2);
	assert_int_equal(a.gpu_memory.largest, 2 * GIB);
	assert_int_equal(a.gpu_memory_request, 2 * GIB + GIB / 2);
	assert_int_equal(a.gpus_use.nr, 2);
	assert_true(a.gpus_use.share > 0.399 && a.gpus_use.share < 0.401); /* 120 of 300 s */
}

static void gpus_have_rows_of_their_own(void **state)
{
	(void)state;
	assert_has(of_gpus, FOR_PEOPLE,
		   "\n  GPUs            0.50        1.42        1.42        1.42          2.00\n"
		   "  GPU mem      1.0 GiB     2.0 GiB     2.0 GiB     2.0 GiB     2,560 MiB\n");
	assert_has(of_gpus, FOR_PEOPLE, "\n  of the GPUs held so far 40 % was used (2 runs)\n");
}

static void directives_have_the_number_of_gpus(void **state)
{
	(void)state;
	assert_has(of_gpus, FOR_SLURM, "\n#SBATCH --gpus=2\n");
	assert_has(of_gpus, FOR_KUBERNETES,
		   "\n  limits:\n    memory: 1280Mi\n    nvidia.com/gpu: 2\n");
	assert_has(of_amd, FOR_KUBERNETES,
		   "Mi\n    # GPUs, by the name that your cluster gives them: 1\n");
	assert_has(of_gpus, FOR_NEXTFLOW, "\naccelerator = 2\n");
	assert_has(of_gpus, FOR_SNAKEMAKE, "\n    gpu=2,\n");
}

static void json_has_the_gpus(void **state)
{
	struct jsonw j = { 0 };
	struct advice a;
	json_t *o;

	(void)state;
	advice_of(&a, of_gpus);
	advice_json(&j, &a, NULL);
	o = json_loads(j.text, 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(o, "gpus"), "request")),
			 2);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(o, "gpu_memory_bytes"),
							    "largest")),
			 2 * GIB);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(o, "gpus_held"), "runs")), 2);
	json_decref(o);
	jsonw_done(&j);
}

static void gpus_that_were_held_and_never_used_are_not_requested(void **state)
{
	(void)state;
	assert_has(of_idle, FOR_PEOPLE, "\n  GPUs            0.00        0.00");
	assert_has(of_idle, FOR_PEOPLE, "of the GPUs held so far 0 % was used (1 run)");
	assert_has_no(of_idle, FOR_PEOPLE, "GPU mem");
	assert_has_no(of_idle, FOR_SLURM, "gpu");
}

static void advice_of_runs_without_gpus_has_no_word_about_them(void **state)
{
	(void)state;
	assert_has_no(of_none, FOR_PEOPLE, "GPU");
	assert_has_no(of_none, FOR_SLURM, "gpu");
	assert_has_no(of_none, FOR_KUBERNETES, "gpu");
	assert_has_no(of_none, FOR_NEXTFLOW, "accelerator");
	assert_has_no(of_none, FOR_SNAKEMAKE, "gpu");
}

static void spans_have_their_own_gpus(void **state)
{
	struct span s = { .label.name = (char *)"train", .end_epoch_ns = 1 };
	struct span_groups groups = { 0 };
	const struct node node = { 0 };
	struct advice a;

	(void)state;
	s.used = (struct summary){ .complete = true,
				   .wall_ns = 100 * SECOND,
				   .has_rss_peak = true,
				   .rss_peak_bytes = GIB,
				   .gpus_held_peak = 4,
				   .gpus_used_peak = 2500 };
	sample_set(&s.used.total, M_cpu, 100 * SECOND);
	sample_set(&s.used.total, M_gpu, 200 * SECOND);
	assert_int_equal(span_groups_add(&groups, &s, 0), 0);
	assert_int_equal(span_group_advise(&groups.all[0], &node, &a), 0);
	assert_int_equal(a.gpus_request, 4);
	assert_true(a.gpus_use.share > 0.499 && a.gpus_use.share < 0.501);
	span_groups_done(&groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_are_the_most_that_a_run_used_at_one_time),
		cmocka_unit_test(gpus_have_rows_of_their_own),
		cmocka_unit_test(directives_have_the_number_of_gpus),
		cmocka_unit_test(json_has_the_gpus),
		cmocka_unit_test(gpus_that_were_held_and_never_used_are_not_requested),
		cmocka_unit_test(advice_of_runs_without_gpus_has_no_word_about_them),
		cmocka_unit_test(spans_have_their_own_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
