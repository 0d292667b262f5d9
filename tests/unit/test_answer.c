// SPDX-License-Identifier: BSD-2-Clause
/* What a run says to its user, sentence by sentence. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "text/answer.h"
#include "text/summary_text.h"

#define SECOND 1000000000ULL

/* A whole run of 10 s that has ended with 0. */
#define GOOD .complete = true, .has_status = true, .wall_ns = 10 * SECOND

#define EXACT(bytes) .has_rss_peak_exact = true, .rss_peak_exact_bytes = (bytes)
#define ALONE(bytes)                                                                               \
	EXACT(bytes), .has_process_rss_peak = true, .process_rss_peak_exact = true,                \
		      .process_rss_peak_bytes = (bytes)
#define NEEDED(of, how, n) .needed = { .bytes = (n), .witness = of, .bound = how }
#define UPPER(low, high)                                                                           \
	.has_rss_peak = true, .rss_peak_bytes = (low), .has_rss_peak_upper = true,                 \
	.rss_peak_upper_bytes = (high)
#define LIMITS(more) "{\"system\":{\"cpus\":8},\"limits\":{" more "}}"

/* What @write writes of the answer, to be freed; "" where nothing is known. */
static char *part_of(answer_part_fn *write, const struct summary *s, const char *meta,
		     struct phase_times *times)
{
	json_t *tree = meta ? json_loads(meta, 0, NULL) : NULL;
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	struct answer a;

	assert_true(!meta || tree);
	answer_of_run(&a, s, tree, times, NULL);
	write(f, &a);
	fclose(f);
	json_decref(tree);
	return text;
}

static char *line_of(const struct summary *s, const char *meta, struct phase_times *times)
{
	return part_of(answer_text, s, meta, times);
}

static void assert_line(const struct summary *s, const char *meta, const char *expected)
{
	char *text = line_of(s, meta, NULL);

	assert_string_equal(text, expected);
	free(text);
}

/* clang-format off */
static const struct {
	struct summary run;
	const char *line; /* what is behind its title */
} requests[] = {
	{ { GOOD, ALONE(522 * MIB) }, "580 MiB (peak 522 MiB + 10 %)" },
	{ { GOOD, EXACT(522 * MIB) }, "580 MiB (peak up to 522 MiB + 10 %)" },
	{ { GOOD, EXACT(522 * MIB), NEEDED("cgroup", "equal", 99 * MIB) }, "110 MiB (its cgroup needed 99.0 MiB + 10 %)" },
	{ { GOOD, EXACT(522 * MIB), NEEDED("pss", "at_most", 99 * MIB) }, "110 MiB (PSS up to 99.0 MiB + 10 %)" },
	{ { GOOD, EXACT(522 * MIB), NEEDED("pss", "equal", 99 * MIB), .needed.unmapped_bytes = 300 * MIB },
	  "at least 110 MiB (PSS 99.0 MiB + 10 %, without up to 300 MiB of files in memory)" },
	{ { GOOD, EXACT(522 * MIB), NEEDED("pss", "at_least", 99 * MIB) },
	  "at least 110 MiB (PSS at least 99.0 MiB + 10 %)" },
	{ { GOOD, UPPER(500 * MIB, 522 * MIB) }, "580 MiB (peak up to 522 MiB + 10 %)" },
	{ { GOOD, UPPER(522 * MIB, 520 * MIB) }, "580 MiB (peak up to 520 MiB + 10 %)" },
	{ { GOOD, UPPER(522 * MIB, 20 * MIB) }, "at least 580 MiB (peak at least 522 MiB + 10 %)" },
	{ { GOOD, .has_rss_peak = true, .rss_peak_bytes = 3 * MIB },
	  "at least 4 MiB (peak at least 3.0 MiB + 10 %)" },
	{ { GOOD, .has_process_rss_peak = true, .process_rss_peak_bytes = MIB },
	  "at least 2 MiB (peak at least 1.0 MiB + 10 %)" },
	{ { GOOD, ALONE(1) }, "1 MiB (peak 1 B + 10 %)" },
	{ { GOOD, ALONE(95 * MIB) }, "110 MiB (peak 95.0 MiB + 10 %)" },
	{ { GOOD, ALONE(1000 * MIB) }, "1.1 GiB (peak 1.0 GiB + 10 %)" },
	{ { GOOD, ALONE(40ULL << 30) }, "44 GiB (peak 40.0 GiB + 10 %)" },
	{ { GOOD, ALONE(3ULL << 40) }, "3.3 TiB (peak 3.0 TiB + 10 %)" },
	{ { GOOD, ALONE(522 * MIB), .exit_code = 3 },
	  "at least 580 MiB (peak 522 MiB + 10 %, of a run that failed)" },
	{ { GOOD, ALONE(522 * MIB), .signal = 15 },
	  "at least 580 MiB (peak 522 MiB + 10 %, of a run that failed)" },
	{ { .has_status = true, ALONE(522 * MIB) },
	  "at least 580 MiB (peak 522 MiB + 10 %, of an incomplete run)" },
	{ { .complete = true, ALONE(522 * MIB) },
	  "at least 580 MiB (peak 522 MiB + 10 %, of an incomplete run)" },
	{ { .complete = true, .is_attached = true, ALONE(522 * MIB) },
	  "at least 580 MiB (peak 522 MiB + 10 %, while attached)" },
	{ { GOOD, ALONE(702 * MIB), .signal = 9, .oom_kills = 1, .oom.limit_bytes = 700 * MIB },
	  "more than 700 MiB (the limit that was too small)" },
	{ { GOOD, ALONE(522 * MIB), .oom_kills = 1 },
	  "at least 580 MiB (peak 522 MiB + 10 %, of a run that was out of memory)" },
};

static const struct {
	uint64_t cpu_ns;
	const char *meta, *line;
} uses[] = {
	{ 7300000000, NULL, "  used        0.73 cores\n" },
	{ 7300000000, "{\"system\":{\"cpus\":2}}", "  used        0.73 of 2 cores\n" },
	{ 7300000000, "{\"system\":{\"cpus\":1}}", "  used        0.73 of 1 core\n" },
	{ 7300000000, LIMITS("\"cpus_allowed_count\":4"), "  used        0.73 of 4 cores\n" },
	{ 7300000000, LIMITS("\"cpus_allowed_count\":4,\"cpu_max_cores\":1.5"), "  used        0.73 of 1.50 cores\n" },
	{ 7300000000, LIMITS("\"cpus_allowed_count\":64"), "  used        0.73 of 8 cores\n" },
	{ 7300000000, LIMITS("\"cpus_allowed_count\":-1,\"cpu_max_cores\":\"x\""), "  used        0.73 of 8 cores\n" },
	{ 7300000000, "{\"system\":{\"cpus\":1e300}}", "  used        0.73 of 9223372036854775.80 cores\n" },
	{ 0, "{\"system\":{\"cpus\":2}}", "  used        0.00 of 2 cores\n" },
};

static const struct {
	const char *meta, *paragraph; /* of a run that needed 512 MiB */
} shares[] = {
	{ NULL, "" },
	{ LIMITS("\"memory_max_bytes\":1073741824"), "\n**Memory: 512 MiB of the limit, 1.0 GiB (50.0 %)**\n" },
	{ "{\"system\":{\"memory_bytes\":8589934592}}", "\n**Memory: 512 MiB of the machine's 8.0 GiB (6.2 %)**\n" },
	{ "{\"system\":{\"memory_bytes\":8589934592},\"limits\":{\"memory_max_bytes\":536870912}}",
	  "\n**Memory: 512 MiB of the limit, 512 MiB (100.0 %)**\n" },
	{ "{\"system\":{\"memory_bytes\":8589934592},\"limits\":{\"memory_max_bytes\":9007199254740992}}",
	  "\n**Memory: 512 MiB of the machine's 8.0 GiB (6.2 %)**\n" },
	{ "{\"system\":{\"memory_bytes\":\"8\"},\"limits\":{\"memory_max_bytes\":-1}}", "" },
};
/* clang-format on */

static void the_memory_is_compared_with_the_limit_or_the_machine(void **state)
{
	const struct summary s = { GOOD, ALONE(512 * MIB) };

	(void)state;
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		char *text = part_of(answer_memory_markdown, &s, shares[i].meta, NULL);

		assert_string_equal(text, shares[i].paragraph);
		free(text);
	}
}

static void the_request_is_for_what_is_known_best_and_says_what_it_is_made_of(void **state)
{
	char expected[200];

	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		snprintf(expected, sizeof(expected), "  request     %s\n", requests[i].line);
		assert_line(&requests[i].run, NULL, expected);
	}
}

static void cores_are_of_those_that_the_run_was_allowed_to_use(void **state)
{
	struct summary s = { GOOD };

	(void)state;
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
		sample_set(&s.total, M_cpu, uses[i].cpu_ns);
		assert_line(&s, uses[i].meta, uses[i].line);
	}
}

static void nothing_is_said_where_nothing_is_known(void **state)
{
	(void)state;
	assert_line(&(struct summary){ 0 }, NULL, "");
	assert_line(&(struct summary){ GOOD }, "{\"system\":{\"cpus\":2}}", "");
}

static void mark_times(struct phase_times *t, const char *text, double seconds)
{
	phase_times_add(t, text, strlen(text), (uint64_t)(seconds * 1e9));
}

/* Of a run of 10 s with half a core. */
static void assert_phase(struct phase_times *t, const char *expected)
{
	struct summary s = { GOOD };
	char *text, line[200];

	sample_set(&s.total, M_cpu, 5 * SECOND);
	text = line_of(&s, NULL, t);
	snprintf(line, sizeof(line), "  used        0.50 cores%s\n", expected);
	assert_string_equal(text, line);
	free(text);
	phase_times_done(t);
}

static void the_phase_that_took_the_most_time_is_named(void **state)
{
	struct phase_times t = { 0 };

	(void)state;
	assert_phase(&t, "");
	mark_times(&t, "load", 1);
	mark_times(&t, "evaluate", 4.8);
	assert_phase(&t, "; 52 % of the time in phase evaluate");
	mark_times(&t, "late", 7);
	assert_phase(&t, "; 70 % of the time before the first mark");
}

static void phases_of_one_name_are_one_in_any_order_of_their_marks(void **state)
{
	struct phase_times t = { 0 };

	(void)state;
	mark_times(&t, "train", 8.5);
	mark_times(&t, "load", 0);
	mark_times(&t, "load", 5);
	mark_times(&t, "train", 2);
	assert_phase(&t, "; 55 % of the time in phase load (x 2)");
	mark_times(&t, "after the end", 11);
	assert_phase(&t, "; 100 % of the time before the first mark");
}

static void phases_of_which_not_all_are_known_are_none(void **state)
{
	struct phase_times t = { 0 };
	char name[20];

	(void)state;
	for (int i = 0; i <= MAX_TIMED_NAMES; i++) {
		snprintf(name, sizeof(name), "epoch %d", i);
		mark_times(&t, name, i / 200.0);
	}
	assert_true(t.is_partial);
	assert_phase(&t, "");
}

static void a_name_with_control_characters_is_inert(void **state)
{
	struct phase_times t = { 0 };

	(void)state;
	phase_times_add(&t, "\x1b[2J\0x\n", 7, 0);
	assert_phase(&t, "; 100 % of the time in phase ?[2J?x?");
}

static void assert_gpus(struct summary s, uint64_t held, uint64_t gpu_ns, const char *expected)
{
	char *text;

	s.gpus_held_peak = held;
	sample_set(&s.total, M_gpu, gpu_ns);
	text = part_of(answer_gpus_text, &s, NULL, NULL);
	assert_string_equal(text, expected);
	free(text);
}

static void gpus_in_use_for_less_than_a_tenth_of_the_time_have_a_sentence(void **state)
{
	const struct summary s = { .wall_ns = 100 * SECOND }, is_short = { .wall_ns = 9 * SECOND };

	(void)state;
	assert_gpus(s, 0, 0, "");
	assert_gpus(s, 1, 0, "its GPU was in use less than 1 % of the time");
	assert_gpus(s, 1, 3 * SECOND, "its GPU was in use 3 % of the time");
	assert_gpus(s, 1, 10 * SECOND, "");
	assert_gpus(s, 2, 10 * SECOND, "its 2 GPUs were in use 5 % of the time");
	assert_gpus(s, 2, 20 * SECOND, "");
	assert_gpus(is_short, 2, 0, "");
}

static void gpus_are_in_the_line_and_in_json(void **state)
{
	struct summary s = { GOOD, .gpus_held_peak = 2 };
	struct jsonw j = { 0 };
	struct answer a;

	(void)state;
	sample_set(&s.total, M_cpu, 7300000000);
	sample_set(&s.total, M_gpu, SECOND);
	assert_line(&s, NULL, "  used        0.73 cores; its 2 GPUs were in use 5 % of the time\n");
	answer_of_run(&a, &s, NULL, NULL, NULL);
	answer_json(&j, &a);
	assert_string_equal(j.text, "\"answer\":{\"cores_used\":0.73,\"gpus_held\":2,"
				    "\"gpus_used\":0.1}");
	jsonw_done(&j);
}

static void json_has_the_parts_of_the_answer(void **state)
{
	struct summary s = { GOOD, UPPER(500 * MIB, 522 * MIB), .exit_code = 1 };
	struct phase_times t = { 0 };
	json_t *meta = json_loads("{\"system\":{\"cpus\":2}}", 0, NULL);
	struct jsonw j = { 0 };
	struct answer a;

	(void)state;
	sample_set(&s.total, M_cpu, 7300000000);
	mark_times(&t, "evaluate", 4.8);
	answer_of_run(&a, &s, meta, &t, NULL);
	answer_json(&j, &a);
	assert_string_equal(j.text, "\"answer\":{\"request_bytes\":608174080,"
				    "\"request_from\":\"memory_needed_bytes\","
				    "\"request_is_least\":true,"
				    "\"request_doubt\":\"of a run that failed\","
				    "\"cores_used\":0.73,\"cores_available\":2,"
				    "\"longest_phase\":{\"text\":\"evaluate\",\"count\":1,"
				    "\"seconds\":5.2}}");
	jsonw_done(&j);
	json_decref(meta);
	phase_times_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_request_is_for_what_is_known_best_and_says_what_it_is_made_of),
		cmocka_unit_test(the_memory_is_compared_with_the_limit_or_the_machine),
		cmocka_unit_test(cores_are_of_those_that_the_run_was_allowed_to_use),
		cmocka_unit_test(nothing_is_said_where_nothing_is_known),
		cmocka_unit_test(the_phase_that_took_the_most_time_is_named),
		cmocka_unit_test(phases_of_one_name_are_one_in_any_order_of_their_marks),
		cmocka_unit_test(phases_of_which_not_all_are_known_are_none),
		cmocka_unit_test(a_name_with_control_characters_is_inert),
		cmocka_unit_test(gpus_in_use_for_less_than_a_tenth_of_the_time_have_a_sentence),
		cmocka_unit_test(gpus_are_in_the_line_and_in_json),
		cmocka_unit_test(json_has_the_parts_of_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
