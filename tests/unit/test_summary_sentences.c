// SPDX-License-Identifier: BSD-2-Clause
/* How the summary for people begins, and its sentence about the peak. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "summary_text_fixture.h"
#include "text/format.h"
#include "text/summary_lines.h"

static void a_run_that_goes_on_is_neither_ended_nor_incomplete(void **state)
{
	const struct summary_view view = { .is_running = true, .what = "make" };
	struct summary s = { .wall_ns = 3400000000, .reason = "the run goes on" };
	char *text = summary_text(&s, &view, 0);

	(void)state;
	assert_non_null(text);
	assert_memory_equal(text, "bpfmon: running, 3.40 s so far: make\n", 38);
	assert_null(strstr(text, "INCOMPLETE"));
	free(text);
}

/* The first line of a run that has ended like this. */
static void assert_head(struct summary s, const char *what, size_t width, const char *expected)
{
	const struct summary_view view = { .what = what };
	char *text = summary_text(&s, &view, width);

	assert_non_null(text);
	*strchr(text, '\n') = '\0';
	assert_string_equal(text, expected);
	free(text);
}

static void the_first_line_has_the_end_and_then_what_was_run(void **state)
{
	struct summary ended = { .has_status = true, .exit_code = 3, .wall_ns = 1500000000 };
	struct summary killed = { .has_status = true, .signal = 9, .wall_ns = 1500000000 };
	struct summary lacked = { .has_status = true, .signal = 9, .oom.is_command = true };
	struct summary is_attached = { .is_attached = true, .wall_ns = 60000000000 };

	(void)state;
	assert_head(ended, "make -j8", 0,
		    "bpfmon: the command ended with 3 after 1.50 s: make -j8");
	assert_head(ended, NULL, 0, "bpfmon: the command ended with 3 after 1.50 s");
	assert_head(ended, "", 0, "bpfmon: the command ended with 3 after 1.50 s");
	assert_head(ended, "make -j8 and all that is behind it", 66,
		    "bpfmon: the command ended with 3 after 1.50 s: make -j8 and all...");
	assert_head(ended, "a\nb\033[2J", 80,
		    "bpfmon: the command ended with 3 after 1.50 s: a?b?[2J");
	assert_head(killed, "make", 0,
		    "bpfmon: the command was killed by signal 9 (Killed) after 1.50 s: make");
	assert_head(lacked, "make", 0,
		    "bpfmon: the command was killed by the kernel: out of memory: make");
	assert_head(is_attached, "pids 1 2", 0, "bpfmon: attached for 60.0 s: pids 1 2");
}

static void what_is_wrong_with_a_run_comes_before_its_figures(void **state)
{
	struct summary s = { .has_status = true, .signal = 9, .oom_kills = 1, .late_ticks = 3 };

	(void)state;
	snprintf(s.oom.comm, sizeof(s.oom.comm), "hog");
	s.oom.pid = 7;
	s.oom.limit_bytes = 700 * MIB;
	snprintf(s.oom.cgroup, sizeof(s.oom.cgroup), "job");
	summary_add_loss(&s, "tasks", 2);
	assert_shown(&s, "Killed)\n"
			 "  OOM-killed  hog (7); limit 700 MiB of cgroup job\n"
			 "  INCOMPLETE: lost 2 tasks (no room for them: totals lack their usage)\n"
			 "  request     more than 700 MiB (the limit that was too small)\n");
}

/* clang-format off */
static const struct {
	uint64_t low, high, process; /* MiB; 0: not known */
	bool has_bounds;
	const char *lines;
} peaks[] = {
	{ 152, 157, 152, false, "  memory      peak at most 157 MiB resident; the largest process had 152 MiB\n" },
	{ 150, 157, 120, false, "  memory      peak at most 157 MiB resident; the largest process had 120 MiB\n" },
	{ 150, 157, 0, false, "  memory      peak at most 157 MiB resident\n" },
	{ 152, 157, 152, true, "  memory      peak between 152 MiB (one process alone) and 157 MiB resident\n"
			       "              largest process 152 MiB\n" },
	{ 150, 157, 120, true, "  memory      peak between 150 MiB (a sample, at 2.00 s) and 157 MiB resident\n"
			       "              largest process 120 MiB\n" },
	{ 156, 157, 120, false, "  memory      peak 157 MiB resident, at 2.00 s\n"
				"              largest process 120 MiB\n" },
	{ 157, 157, 157, false, "  memory      peak 157 MiB resident\n"
				"              largest process 157 MiB\n" },
	{ 157, 0, 120, false, "  memory      peak at least 157 MiB resident, at 2.00 s\n"
			      "              largest process 120 MiB\n" },
	{ 157, 100, 120, false, "  memory      peak at least 157 MiB resident; the upper bound, 100 MiB, is wrong: please report this\n"
				"              largest process 120 MiB\n" },
};
/* clang-format on */

static void the_peak_of_a_run_is_one_sentence_and_its_bounds_can_be_shown(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(peaks) / sizeof(*peaks); i++) {
		struct summary s = { .has_rss_peak = true,
				     .rss_peak_bytes = peaks[i].low * MIB,
				     .rss_peak_elapsed_ns = 2000000000,
				     .has_rss_peak_upper = peaks[i].high,
				     .rss_peak_upper_bytes = peaks[i].high * MIB,
				     .has_process_rss_peak = peaks[i].process,
				     .process_rss_peak_exact = true,
				     .process_rss_peak_bytes = peaks[i].process * MIB };
		const struct summary_view view = { .has_bounds = peaks[i].has_bounds };
		char *text = summary_text(&s, &view, 0), *memory = strstr(text, "  memory");

		assert_non_null(memory);
		assert_string_equal(memory, peaks[i].lines);
		free(text);
	}
}

/* Asserts that the text of @s, with a line on waiting, has @lines. Takes @s. */
static void assert_memory_lines(struct summary *s, bool has_bounds, const char *lines)
{
	const struct summary_view view = { .has_bounds = has_bounds };
	char *text;

	sample_set(&s->total, M_runqueue_wait, 2000000);
	sample_set(&s->total, M_cpu, 1000000);
	text = summary_text(s, &view, 0);
	assert_non_null(text);
	if (!strstr(text, lines))
		fail_msg("no %s in %s", lines, text);
	free(text);
	summary_done(s);
}

/* A run so short that no sample saw it. */
static void the_first_line_on_memory_has_the_title_without_a_sampled_peak(void **state)
{
	struct summary s = { .has_rss_peak_exact = true,
			     .rss_peak_exact_bytes = 2 * MIB,
			     .rss_peak_exact_elapsed_ns = 3000000,
			     .has_process_rss_peak = true,
			     .process_rss_peak_exact = true,
			     .process_rss_peak_bytes = MIB };

	(void)state;
	assert_memory_lines(&s, true,
			    "  waited      2.00 ms for a CPU\n"
			    "  memory      peak 2.0 MiB exactly, at 3.00 ms\n"
			    "              largest process 1.0 MiB\n");
	s = (struct summary){ .has_process_rss_peak = true, .process_rss_peak_bytes = MIB };
	assert_memory_lines(&s, false,
			    "  waited      2.00 ms for a CPU\n"
			    "  memory      largest process about 1.0 MiB\n");
	s = (struct summary){ .marks_reset = 1, .hugetlb_peak_bytes = 2 * MIB };
	assert_memory_lines(&s, false,
			    "  waited      2.00 ms for a CPU\n"
			    "  memory      no upper bound: a process reset its high-water mark, or "
			    "freed memory while it grew\n"
			    "              huge pages 2.0 MiB besides, at a sample\n");
}

static void an_exact_peak_has_its_bounds_where_they_are_wanted(void **state)
{
	struct summary s = { .has_rss_peak = true,
			     .rss_peak_bytes = 733 * MIB,
			     .has_rss_peak_upper = true,
			     .rss_peak_upper_bytes = 803 * MIB,
			     .has_rss_peak_exact = true,
			     .rss_peak_exact_bytes = 804 * MIB,
			     .rss_peak_exact_elapsed_ns = 2346000000 };
	const struct summary_view view = { .has_bounds = true };
	char *text = summary_text(&s, &view, 0);

	(void)state;
	assert_non_null(strstr(text, "peak 804 MiB exactly, at 2.35 s (a sample saw 733 MiB; "
				     "upper bound 803 MiB)\n"));
	free(text);
	assert_shown(&s, "peak 804 MiB exactly, at 2.35 s\n");
}

#define SECOND 1000000000ULL
#define MINUTE (60 * SECOND)

static void gpus_and_energy_have_a_line_each(void **state)
{
	struct summary s = { .wall_ns = 10 * MINUTE,
			     .gpus_held_peak = 2,
			     .gpus_used_peak = 2000,
			     .gpu_memory_peak_bytes = 37ULL << 30 };

	(void)state;
	sample_set(&s.total, M_gpu, 14 * MINUTE + MINUTE / 5);
	sample_set(&s.total, M_gpu_idle, 3 * MINUTE);
	sample_set(&s.total, M_gpu_energy, 61200000000);
	sample_set(&s.total, M_host_energy, 162000000);
	sample_set(&s.total, M_energy_apportioned, 37000000);
	assert_shown(
		&s,
		"\n  GPU         2 held, 1.42 used on average, 2.00 at the peak; idle for 3 min in "
		"all; memory 37.0 GiB at the peak; 61.2 kJ\n"
		"  energy      37.0 J by CPU time, of the machine's 162 J\n");
}

static void gpus_whose_use_is_not_known_are_held(void **state)
{
	struct summary s = { .wall_ns = 10 * MINUTE, .gpus_held_peak = 1 };

	(void)state;
	assert_shown(&s, "\n  GPU         1 held\n");
}

static void assert_not_shown(const struct summary *s, const char *part)
{
	char *text = summary_text(s, NULL, 0);

	if (strstr(text, part))
		fail_msg("'%s' is in %s", part, text);
	free(text);
}

static void a_run_that_held_no_gpu_has_no_word_about_them(void **state)
{
	struct summary s = { .wall_ns = 10 * MINUTE };

	(void)state;
	sample_set(&s.total, M_gpu, 0);
	sample_set(&s.total, M_gpu_idle, 0);
	sample_set(&s.total, M_host_energy, 0);
	assert_not_shown(&s, "GPU");
	assert_not_shown(&s, "energy");
}

static void gpus_that_were_never_used_are_a_warning(void **state)
{
	const struct summary_view view = { .has_styles = true };
	struct summary s = { .wall_ns = 20 * MINUTE, .gpus_held_peak = 2 };
	char *text;

	(void)state;
	sample_set(&s.total, M_gpu, 0);
	sample_set(&s.total, M_gpu_idle, 24 * MINUTE);
	text = summary_text(&s, &view, 0);
	assert_non_null(strstr(text, "\n  " STYLED_ALARM "IDLE GPU" STYLED_END
				     "    2 GPUs were held for 12 min and never used\n"));
	free(text);
	s.gpus_held_peak = 1;
	s.total.value[M_gpu_idle] = 9 * SECOND;
	assert_not_shown(&s, "IDLE GPU");
	s.total.value[M_gpu_idle] = 10 * SECOND;
	assert_shown(&s, "\n  IDLE GPU    1 GPU was held for 10.0 s and never used\n");
}

/* To be freed. */
static char *gpus_now(const struct sample *smp)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	gpus_now_text(f, smp);
	fclose(f);
	return text;
}

static void assert_gpus_now(const struct sample *smp, const char *expected)
{
	char *text = gpus_now(smp);

	assert_string_equal(text, expected);
	free(text);
}

static void gpus_without_work_now_have_a_sentence_and_others_have_none(void **state)
{
	struct sample smp = { 0 };

	(void)state;
	assert_gpus_now(&smp, "");
	sample_set(&smp, M_gpus_held, 0);
	sample_set(&smp, M_gpus_used, 0);
	assert_gpus_now(&smp, "");
	sample_set(&smp, M_gpus_held, 2);
	assert_gpus_now(&smp, "2 held, 2 without work at the last reading");
	sample_set(&smp, M_gpu, 0);
	sample_set(&smp, M_gpu_idle, 24 * MINUTE);
	assert_gpus_now(&smp, "2 held for 12 min without any work so far");
	sample_set(&smp, M_gpu, SECOND);
	sample_set(&smp, M_gpus_idle, 1);
	sample_set(&smp, M_gpus_used, 900);
	assert_gpus_now(&smp, "2 held, 1 without work; idle for 24 min in all so far");
	sample_set(&smp, M_gpus_idle, 0);
	assert_gpus_now(&smp, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_has_the_end_and_then_what_was_run),
		cmocka_unit_test(what_is_wrong_with_a_run_comes_before_its_figures),
		cmocka_unit_test(a_run_that_goes_on_is_neither_ended_nor_incomplete),
		cmocka_unit_test(the_peak_of_a_run_is_one_sentence_and_its_bounds_can_be_shown),
		cmocka_unit_test(the_first_line_on_memory_has_the_title_without_a_sampled_peak),
		cmocka_unit_test(an_exact_peak_has_its_bounds_where_they_are_wanted),
		cmocka_unit_test(gpus_and_energy_have_a_line_each),
		cmocka_unit_test(gpus_whose_use_is_not_known_are_held),
		cmocka_unit_test(a_run_that_held_no_gpu_has_no_word_about_them),
		cmocka_unit_test(gpus_that_were_never_used_are_a_warning),
		cmocka_unit_test(gpus_without_work_now_have_a_sentence_and_others_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
