// SPDX-License-Identifier: BSD-2-Clause
/* The sentence that a comparison comes to, the rows below it, and the order of groups. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/compare.h"
#include "study/compare_text.h"
#include "compare_fixture.h"

#include <time.h>

/* Runs of two groups, those with an even number in the first; @text is what each summary has. */
struct pair {
	struct sides all;
	struct groups g;
	struct comparison c;
};

static void pair_make(struct pair *p, const char *const *text, size_t nr)
{
	const struct side *without;
	char line[1024];

	*p = (struct pair){ 0 };
	for (size_t i = 0; i < nr; i++) {
		snprintf(line, sizeof(line),
			 META(",\"tags\":{\"g\":\"%s\"}") "{\"kind\":\"summary\",%s}\n",
			 i % 2 ? "b" : "a", text[i]);
		assert_int_equal(add_text(&p->all, line, add_run_file), 0);
	}
	assert_int_equal(groups_by_tag(&p->g, &p->all, "g", &without), 0);
	assert_int_equal(groups_compare(&p->c, &p->g), 0);
}

static void pair_done(struct pair *p)
{
	comparison_done(&p->c);
	groups_done(&p->g);
	sides_done(&p->all);
}

#define OK "\"complete\":true,"
#define HEADS(wall, cpu, rss)                                                                      \
	OK "\"exit_code\":0,\"wall_seconds\":" #wall ",\"cpu_seconds\":" #cpu                      \
	   ",\"rss_peak_bytes\":" #rss

/* clang-format off */
static const struct {
	const char *a, *b;
	size_t facts;
	const char *verdict;
} of_one_run_each[] = {
	{ HEADS(1.7, 1, 1000000), HEADS(1.9, 1, 970000), 0,
	  "b took 12 % longer than a (1.90 s against 1.70 s) and needed 3 % less memory (947 KiB against 977 KiB); "
	  "nothing else changed. With one run each, changes cannot be told from noise." },
	{ HEADS(1.7, 1, 1000000), HEADS(1.9, 1, 1000000), 1,
	  "b took 12 % longer than a (1.90 s against 1.70 s); no other value changed. With one run each, changes cannot be told from noise." },
	{ HEADS(1.7, 1, 1000000) ",\"minflt\":1000", HEADS(1.9, 1, 1000000) ",\"minflt\":1001", 0,
	  "b took 12 % longer than a (1.90 s against 1.70 s); nothing else changed by 1 % or more. With one run each, changes cannot be told from noise." },
	{ HEADS(1.7, 1, 1000000) ",\"minflt\":1000,\"forks\":1", HEADS(1.9, 2.5, 1000000) ",\"minflt\":1100,\"forks\":2", 0,
	  "b took 12 % longer than a (1.90 s against 1.70 s) and used 2.5 times the CPU time (2.50 s against 1.00 s); "
	  "2 other values changed. With one run each, changes cannot be told from noise." },
	{ HEADS(1, 1, 1000000), HEADS(20, 0.5, 3000000), 0,
	  "b took 20 times as long as a (20.0 s against 1.00 s), used 50 % less CPU time (500 ms against 1.00 s) and needed "
	  "3.0 times the memory (2.9 MiB against 977 KiB); nothing else changed. With one run each, changes cannot be told from noise." },
	{ HEADS(1, 0, 1000000), HEADS(1, 3, 1000000), 0,
	  "b used more CPU time than a (3.00 s against 0 s); nothing else changed. With one run each, changes cannot be told from noise." },
	{ HEADS(1000, 100, 1000), HEADS(1, 0, 4), 0,
	  "b took 99.9 % less time than a (1.00 s against 16 min 40 s), used 100 % less CPU time (0 s against 100 s) and needed "
	  "99.6 % less memory (4 B against 1.0 KiB); nothing else changed. With one run each, changes cannot be told from noise." },
	{ HEADS(1.7, 1, 1000000), HEADS(1.7, 1, 1000000), 0, "Nothing changed." },
	{ HEADS(1.7, 1, 1000000), HEADS(1.7, 1, 1000000), 2, "No value changed." },
	{ HEADS(1.7, 1, 1000000), HEADS(1.701, 1, 1000000), 0, "Nothing changed by 1 % or more." },
	{ HEADS(1.7, 1, 1000000) ",\"minflt\":5", HEADS(1.701, 1, 1000000) ",\"minflt\":7", 0,
	  "Time, CPU time and memory are the same within 1 %; 1 other value changed. With one run each, changes cannot be told from noise." },
	{ OK "\"minflt\":5", OK "\"majflt\":7", 0, "Nothing changed." },
	{ OK "\"exit_code\":0", OK "\"exit_code\":3", 0,
	  "b ended with 3, a with 0. Nothing else changed. With one run each, changes cannot be told from noise." },
	{ OK "\"exit_code\":null,\"signal\":9,\"oom_kills\":2", OK "\"exit_code\":0,\"oom_kills\":0", 0,
	  "b was not killed, a was killed by signal 9. The kernel killed 0 processes of b for lack of memory, and 2 of a. Nothing else changed. "
	  "With one run each, changes cannot be told from noise." },
	{ "\"complete\":false,\"wall_seconds\":2", OK "\"wall_seconds\":3", 0,
	  "b took 50 % longer than a (3.00 s against 2.00 s); nothing else changed. Some runs are incomplete: they may have used more than is shown." },
	{ OK "\"rss_peak_bytes\":100,\"rss_peak_upper_bytes\":200,\"process_rss_peak_bytes\":50",
	  OK "\"rss_peak_bytes\":300,\"rss_peak_upper_bytes\":220,\"process_rss_peak_bytes\":500", 0,
	  "b needed 10 % more memory than a (220 B against 200 B); nothing else changed. With one run each, changes cannot be told from noise." },
	{ OK "\"rss_peak_bytes\":100,\"rss_peak_upper_bytes\":200", OK "\"rss_peak_bytes\":110", 0,
	  "b needed 10 % more memory than a (110 B against 100 B); nothing else changed. With one run each, changes cannot be told from noise." },
};

/* Five runs on each side: what each has, in turn. */
static const struct {
	double a, b;        /* the wall time of the runs begins with these, and rises by 0.01 */
	double cpu_a, cpu_b;
	size_t runs;        /* of each side */
	const char *verdict;
} of_several_runs[] = {
	{ 10, 12, 5, 5, 5,
	  "b took 20 % longer than a (12.0 s against 10.0 s): more than noise; nothing else changed. Differences in CPU time may be noise." },
	{ 10, 12, 5, 6, 5,
	  "b took 20 % longer than a (12.0 s against 10.0 s) and used 20 % more CPU time (6.00 s against 5.01 s): more than noise; nothing else changed." },
	{ 10, 10.001, 5, 5, 5, "Nothing changed by more than noise." },
	{ 10, 12, 5, 5, 3,
	  "b took 20 % longer than a (12.0 s against 10.0 s), but the runs are too few to tell that from noise." },
};
/* clang-format on */

static void assert_verdict(const struct pair *p, size_t facts, const char *expected)
{
	char *text = verdict_text(&p->c, 1, facts);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void the_verdict_on_one_run_each_is_a_sentence(void **state)
{
	struct pair p;

	(void)state;
	for (size_t i = 0; i < sizeof(of_one_run_each) / sizeof(*of_one_run_each); i++) {
		pair_make(&p, (const char *const[]){ of_one_run_each[i].a, of_one_run_each[i].b },
			  2);
		assert_verdict(&p, of_one_run_each[i].facts, of_one_run_each[i].verdict);
		pair_done(&p);
	}
}

static void the_verdict_on_several_runs_claims_no_more_than_the_test(void **state)
{
	char room[10][256];
	const char *text[10];
	struct pair p;

	(void)state;
	for (size_t k = 0; k < sizeof(of_several_runs) / sizeof(*of_several_runs); k++) {
		size_t n = of_several_runs[k].runs * 2;

		for (size_t i = 0; i < n; i++) {
			/* the CPU time is mixed where it begins alike */
			double more = (double)(i / 2) * 0.01, less = i % 4 < 2 ? 0 : 0.01;

			snprintf(room[i], sizeof(room[i]),
				 OK "\"wall_seconds\":%.3f,\"cpu_seconds\":%.3f",
				 (i % 2 ? of_several_runs[k].b : of_several_runs[k].a) + more,
				 (i % 2 ? of_several_runs[k].cpu_b : of_several_runs[k].cpu_a) +
					 (i == 3   ? 0.02
					  : i == 8 ? 0.03
						   : less));
			text[i] = room[i];
		}
		pair_make(&p, text, n);
		assert_verdict(&p, 0, of_several_runs[k].verdict);
		pair_done(&p);
	}
}

/* The keys of the rows, apart by blanks. */
static void assert_rows(const struct pair *p, const struct row_choice *choice, const char *expected)
{
	struct comparison_rows r;
	char text[2048] = "";

	comparison_choose_rows(&r, &p->c, 1, choice);
	for (size_t i = 0; i < r.nr; i++) {
		strcat(text, i ? " " : "");
		strcat(text, run_key(r.keys[i]).name);
	}
	assert_string_equal(text, expected);
}

static void what_changed_comes_first_and_the_largest_change_before_others(void **state)
{
	struct pair p;
	size_t majflt = key_of("majflt");

	(void)state;
	pair_make(&p,
		  (const char *const[]){
			  HEADS(2, 1,
				100) ",\"minflt\":1000,\"syscr\":100,\"forks\":3,\"majflt\":7,"
				     "\"rss_peak_upper_bytes\":100,\"process_rss_peak_bytes\":7,"
				     "\"nvcsw\":1000",
			  HEADS(2, 1,
				200) ",\"minflt\":200,\"syscr\":300,\"forks\":3,\"majflt\":7,"
				     "\"rss_peak_upper_bytes\":100,\"process_rss_peak_bytes\":9,"
				     "\"nvcsw\":1001,\"pss_peak_bytes\":3" },
		  2);
	assert_rows(&p, NULL, "wall_seconds cpu_seconds rss_peak_upper_bytes minflt syscr");
	assert_rows(&p, &(struct row_choice){ .wanted = &majflt, .nr_wanted = 1 },
		    "wall_seconds cpu_seconds rss_peak_upper_bytes minflt syscr majflt");
	assert_rows(&p, &(struct row_choice){ .is_all = true },
		    "wall_seconds cpu_seconds rss_peak_upper_bytes minflt syscr exit_code signal "
		    "rss_peak_bytes process_rss_peak_bytes pss_peak_bytes majflt nvcsw forks");
	pair_done(&p);
}

#define MANY(minflt, read, nvcsw, user, rchar, syscr, majflt)                                      \
	",\"minflt\":" #minflt ",\"read_bytes\":" #read ",\"nvcsw\":" #nvcsw                       \
	",\"user_seconds\":" #user ",\"rchar_bytes\":" #rchar ",\"syscr\":" #syscr                 \
	",\"majflt\":" #majflt

static void five_differences_are_shown_large_amounts_first(void **state)
{
	size_t user = key_of("user_seconds");
	struct comparison_rows r;
	struct pair p;

	(void)state;
	pair_make(&p,
		  (const char *const[]){ HEADS(2, 1, 100) MANY(1000, 0, 2, 1, 4194304, 500, 7),
					 HEADS(3, 1, 100)
						 MANY(2000, 4096, 90, 9, 8388608, 1400, 70) },
		  2);
	assert_rows(&p, NULL,
		    "wall_seconds cpu_seconds rss_peak_bytes syscr minflt rchar_bytes read_bytes");
	assert_rows(&p, &(struct row_choice){ .wanted = &user, .nr_wanted = 1 },
		    "wall_seconds cpu_seconds rss_peak_bytes syscr minflt rchar_bytes read_bytes "
		    "user_seconds");
	comparison_choose_rows(&r, &p.c, 1, NULL);
	assert_int_equal(r.hidden, 3);
	assert_int_equal(r.nr_changed, 8);
	pair_done(&p);
}

#define QUEUE(wait, threads)                                                                       \
	",\"processes_total\":1,\"threads_created\":" #threads ",\"runqueue_wait_seconds\":" #wait

static void waiting_for_a_cpu_is_stated_beside_the_time(void **state)
{
	static const struct {
		const char *a, *b, *verdict;
	} of[] = {
		{ HEADS(1.7, 1, 100) QUEUE(0.1, 0), HEADS(1.9, 1, 100) QUEUE(0.155, 0),
		  "b took 12 % longer than a (1.90 s against 1.70 s; of that, 155 ms against "
		  "100 ms waiting for a CPU); nothing else changed. With one run each, changes "
		  "cannot be told from noise." },
		{ HEADS(1.7, 1, 100) QUEUE(0.1, 2), HEADS(1.9, 1, 100) QUEUE(2, 2),
		  "b took 12 % longer than a (1.90 s against 1.70 s; all threads together waited "
		  "2.00 s against 100 ms for a CPU); nothing else changed. With one run each, "
		  "changes cannot be told from noise." },
		{ HEADS(17.5, 6.5, 100) QUEUE(0.2, 0), HEADS(28.7, 6.5, 100) QUEUE(11.1, 0),
		  "b took 64 % longer than a (28.7 s against 17.5 s), all of it waiting for a CPU; "
		  "its own work is the same (+2 %); nothing else changed. With one run each, "
		  "changes cannot be told from noise." },
		{ HEADS(28, 6, 100) QUEUE(11, 0), HEADS(14, 6, 50) QUEUE(1, 0),
		  "b took 50 % less time than a (14.0 s against 28.0 s) and needed 50 % less "
		  "memory "
		  "(50 B against 100 B); most of the saved time is less waiting for a CPU; its own "
		  "work takes 24 % less time; nothing else changed. With one run each, changes "
		  "cannot be told from noise." },
		{ HEADS(1.7, 1, 100) QUEUE(0.001, 0), HEADS(1.9, 1, 100) QUEUE(0.001, 0),
		  "b took 12 % longer than a (1.90 s against 1.70 s); nothing else changed. With "
		  "one run each, changes cannot be told from noise." },
	};
	struct pair p;

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		pair_make(&p, (const char *const[]){ of[i].a, of[i].b }, 2);
		assert_verdict(&p, 0, of[i].verdict);
		assert_rows(&p, NULL, "wall_seconds cpu_seconds rss_peak_bytes");
		pair_done(&p);
	}
}

static void what_is_wrong_comes_before_all_else(void **state)
{
	struct pair p;

	(void)state;
	pair_make(&p,
		  (const char *const[]){ HEADS(2, 1, 100) ",\"oom_kills\":0",
					 HEADS(1, 1, 100) ",\"oom_kills\":1" },
		  2);
	assert_rows(&p, NULL, "oom_kills wall_seconds cpu_seconds rss_peak_bytes");
	pair_done(&p);
}

static void values_without_a_row_are_counted(void **state)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	struct pair p;

	(void)state;
	pair_make(&p,
		  (const char *const[]){
			  HEADS(2, 1,
				100) ",\"process_rss_peak_bytes\":7,\"minflt\":1000,\"forks\":2",
			  HEADS(3, 1,
				100) ",\"process_rss_peak_bytes\":9,\"minflt\":1001,\"majflt\":1" },
		  2);
	comparison_text_of(f, &p.c, NULL, NULL, 80);
	fclose(f);
	assert_non_null(strstr(text,
			       "\n  1 other peaks of memory, 1 within 1 %, 2 equal, 2 on one side "
			       "only: --all\n  shows them\n"));
	assert_non_null(strstr(text, "  rss_peak_bytes   100 B   100 B         0 B       0 %\n"));
	assert_null(strstr(text, "minflt"));
	free(text);
	pair_done(&p);
}

/* The names of groups by the tag, sorted. */
static void assert_order(const char *const *names, size_t nr, bool with_first, const char *expected)
{
	const struct side *without;
	struct sides all = { 0 };
	char text[256] = "";
	struct groups g;

	for (size_t i = 0; i < nr; i++)
		add_tagged(&all, names[i], "minflt", 1);
	assert_int_equal(groups_by_tag(&g, &all, "build", &without), 0);
	groups_sort(&g, with_first);
	for (size_t i = 0; i < g.nr; i++) {
		strcat(text, i ? " " : "");
		strcat(text, g.list[i].name);
	}
	assert_string_equal(text, expected);
	groups_done(&g);
	sides_done(&all);
}

static void groups_are_in_the_order_of_their_values(void **state)
{
	static const char *const threads[] = { "8", "16", "1", "2.5", "-3", "8" };
	static const char *const builds[] = { "new", "odd", "10", "9", "bad" };

	(void)state;
	assert_order(threads, 6, true, "-3 1 2.5 8 16");
	assert_order(threads, 6, false, "8 -3 1 2.5 16");
	assert_order(builds, 5, true, "new 10 9 bad odd");
	assert_order(builds, 5, false, "new 10 9 bad odd");
	assert_order((const char *const[]){ "2", "", "1" }, 3, true, "2  1");
}

/* The line of the first side, of a run with that meta. */
static void assert_legend(const char *meta, const char *expected)
{
	struct sides all = { 0 };
	struct comparison c;
	struct groups g;
	char *text = NULL, *at;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	assert_int_equal(add_text(&all, meta, add_run_file), 0);
	assert_int_equal(add_text(&all, META() SUMMARY(), add_run_file), 0);
	for (size_t i = 0; i < 2; i++) {
		free(all.list[i].name);
		all.list[i].name = strdup(i ? "7" : "41");
	}
	assert_int_equal(groups_each(&g, &all), 0);
	assert_int_equal(groups_compare(&c, &g), 0);
	comparison_text_of(f, &c, NULL, NULL, 120);
	fclose(f);
	at = strchr(text, '\n');
	*at = '\0';
	assert_string_equal(text, expected);
	free(text);
	comparison_done(&c);
	groups_done(&g);
	sides_done(&all);
}

static void a_run_is_known_by_its_name_tags_and_date(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	assert_legend(META(",\"name\":\"align\",\"tags\":{\"x\":\"1\",\"y\":\"2\"},"
			   "\"command\":[\"./align.sh\"],\"start_time\":1763690000.5") SUMMARY(),
		      "  run 41  align  x=1 y=2  2025-11-21 01:53:20 UTC");
	assert_legend(META(",\"command\":[\"./align.sh\",\"A7\"]") SUMMARY(),
		      "  run 41  ./align.sh A7");
	assert_legend(
		META(",\"command\":[\"./align.sh\",\"a long argument, and then another "
		     "one\"],\"start_time\":1") SUMMARY(),
		"  run 41  ./align.sh a long argument, and then ...  1970-01-01 00:00:01 UTC");
	assert_legend(META(",\"attached\":{\"cgroup\":\"/a.slice\"}") SUMMARY(),
		      "  run 41  cgroup /a.slice");
	assert_legend(META() SUMMARY(), "  run 41  bpfmon");
	assert_legend(META(",\"name\":\"\\u001b[2J\\n\"") SUMMARY(), "  run 41  ?[2J?");
}

/* The titles of two sides with these words and meta lines. */
static void assert_titles(const char *a, const char *b, const char *first, const char *other,
			  const char *expected)
{
	const char *const words[] = { a, b }, *const metas[] = { first, other };
	struct sides all = { 0 };
	struct groups g;
	char text[2 * TITLE_BYTES + 4];

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(add_text(&all, metas[i], add_run_file), 0);
		free(all.list[i].name);
		all.list[i].name = strdup(words[i]);
	}
	assert_int_equal(groups_each(&g, &all), 0);
	snprintf(text, sizeof(text), "%s, %s", g.list[0].title, g.list[1].title);
	assert_string_equal(text, expected);
	groups_done(&g);
	sides_done(&all);
}

static void sides_are_called_by_what_tells_them_apart(void **state)
{
	(void)state;
	assert_titles("1", "2", META(",\"name\":\"align\",\"tags\":{\"x\":\"1\"}") SUMMARY(),
		      META(",\"name\":\"sort\",\"tags\":{\"x\":\"2\"}") SUMMARY(), "align, sort");
	assert_titles("1", "2",
		      META(",\"name\":\"a\",\"tags\":{\"y\":\"z\",\"build\":\"v1\"}") SUMMARY(),
		      META(",\"name\":\"a\",\"tags\":{\"y\":\"z\",\"build\":\"v2\"}") SUMMARY(),
		      "v1, v2");
	assert_titles("1", "2", META(",\"tags\":{\"threads\":\"4\"}") SUMMARY(),
		      META(",\"tags\":{\"threads\":\"8\"}") SUMMARY(), "threads=4, threads=8");
	assert_titles("/tmp/old.jsonl", "new.jsonl", META() SUMMARY(), META() SUMMARY(),
		      "old.jsonl, new.jsonl");
	assert_titles("1", "2", META(",\"git\":{\"revision\":\"0123456789abc\"}") SUMMARY(),
		      META(",\"git\":{\"revision\":\"f123456789abc\"}") SUMMARY(),
		      "012345678, f12345678");
	assert_titles("1", "2", META(",\"command\":[\"./v1\",\"x\"]") SUMMARY(),
		      META(",\"command\":[\"bin/v2\"]") SUMMARY(), "v1, v2");
	assert_titles("41", "h:42", META() SUMMARY(), META() SUMMARY(), "run 41, run h:42");
	assert_titles("1", "1", META() SUMMARY(), META() SUMMARY(), "#1 run 1, #2 run 1");
	assert_titles("1", "2", META(",\"name\":\"\\u001b[2J\"") SUMMARY(),
		      META(",\"name\":\"a name that is so long that it has to be cut\"") SUMMARY(),
		      "?[2J, a name tha...s to be cut");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verdict_on_one_run_each_is_a_sentence),
		cmocka_unit_test(the_verdict_on_several_runs_claims_no_more_than_the_test),
		cmocka_unit_test(what_changed_comes_first_and_the_largest_change_before_others),
		cmocka_unit_test(five_differences_are_shown_large_amounts_first),
		cmocka_unit_test(waiting_for_a_cpu_is_stated_beside_the_time),
		cmocka_unit_test(what_is_wrong_comes_before_all_else),
		cmocka_unit_test(values_without_a_row_are_counted),
		cmocka_unit_test(groups_are_in_the_order_of_their_values),
		cmocka_unit_test(sides_are_called_by_what_tells_them_apart),
		cmocka_unit_test(a_run_is_known_by_its_name_tags_and_date),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
