// SPDX-License-Identifier: BSD-2-Clause
/* What a benchmark executes: parameters and words of its commands, and the order of its runs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/plan.h"
#include "study/bench_runner.h"
#include "study/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void assert_values(const struct parameter *p, const char *const *wanted, size_t nr)
{
	assert_int_equal(p->nr, nr);
	for (size_t i = 0; i < nr; i++)
		assert_string_equal(p->values[i], wanted[i]);
}

static void lists_are_separated_by_commas(void **state)
{
	static const char *const plain[] = { "1", "2", "4" }, *const other[] = { "a,b", "", "c" };
	struct parameters p = { .nr = 0 };

	(void)state;
	assert_int_equal(parameters_add_list(&p, "threads 1,2,4"), 0);
	assert_int_equal(parameters_add_list(&p, "word a\\,b,,c"), 0);
	assert_values(&p.list[0], plain, COUNT(plain));
	assert_values(&p.list[1], other, COUNT(other));
	assert_string_equal(p.list[1].name, "word");
	assert_int_equal(parameters_add_list(&p, "threads 1"), -EINVAL);
	assert_int_equal(parameters_add_list(&p, "alone"), -EINVAL);
	assert_int_equal(parameters_add_list(&p, "a=b 1"), -EINVAL);
	assert_int_equal(p.nr, 2);
	parameters_done(&p);
}

static void scans_are_exact_decimals(void **state)
{
	static const char *const whole[] = { "1", "2", "3" },
				 *const tenths[] = { "0.1", "0.2", "0.3" },
				 *const below[] = { "-0.50", "-0.25", "0.00", "0.25" },
				 *const large[] = { "0.00000000000000", "90000.00000000000000" };
	struct parameters p = { .nr = 0 };

	(void)state;
	assert_int_equal(parameters_add_scan(&p, "n 1 3", NULL), 0);
	assert_int_equal(parameters_add_scan(&p, "t 0.1 0.3", "0.1"), 0);
	assert_int_equal(parameters_add_scan(&p, "b -0.5 0.3", "0.25"), 0);
	assert_values(&p.list[0], whole, COUNT(whole));
	assert_values(&p.list[1], tenths, COUNT(tenths));
	assert_values(&p.list[2], below, COUNT(below));
	assert_int_equal(parameters_add_scan(&p, "l 0.00000000000000 90000", "90000"), 0);
	assert_values(&p.list[3], large, COUNT(large));
	assert_int_equal(parameters_add_scan(&p, "m -9.00000000000000 90000", "90000"), 0);
	assert_int_equal(p.list[4].nr, 2);
	assert_int_equal(parameters_add_scan(&p, "x 3 1", NULL), -EINVAL);
	assert_int_equal(parameters_add_scan(&p, "x 1", NULL), -EINVAL);
	assert_int_equal(parameters_add_scan(&p, "x 1 3", "0"), -EINVAL);
	assert_int_equal(parameters_add_scan(&p, "x 1 3e2", NULL), -EINVAL);
	assert_int_equal(parameters_add_scan(&p, "x 1 1000000", NULL), -E2BIG);
	parameters_done(&p);
}

static void names_in_braces_are_replaced_once(void **state)
{
	const char *const values[] = { "{b}", "2" };
	struct parameters p = { .nr = 0 };
	char *text;

	(void)state;
	assert_int_equal(parameters_add_list(&p, "a x"), 0);
	assert_int_equal(parameters_add_list(&p, "b y"), 0);
	text = parameters_put(&p, values, "{a} {b}{b} {c} ${b} {b");
	assert_non_null(text);
	assert_string_equal(text, "{b} 22 {c} $2 {b");
	free(text);
	parameters_done(&p);
}

static void words_are_split_as_by_a_shell(void **state)
{
	char **words = words_split(" cp 'a b'  \"c \\\" d\" e\\ f '' ");
	char *line;

	(void)state;
	assert_non_null(words);
	line = words_quote(words);
	assert_string_equal(words[1], "a b");
	assert_string_equal(words[2], "c \" d");
	assert_string_equal(words[3], "e f");
	assert_string_equal(words[4], "");
	assert_null(words[5]);
	assert_string_equal(line, "cp 'a b' 'c \" d' 'e f' ''");
	words_free(words);
	free(line);
	assert_null(words_split("echo 'open"));
	assert_null(words_split("  "));
}

static struct bench_plan plan_of(const char *const *commands, size_t nr, const char *list)
{
	struct bench_commands c = { .commands = commands, .nr = nr, .shell = "sh" };
	struct bench_plan p = { .runs = 3, .warmups = 1, .seed = 42 };

	if (list)
		assert_int_equal(parameters_add_list(&p.parameters, list), 0);
	assert_int_equal(bench_plan_make(&p, &c), 0);
	return p;
}

static void each_command_meets_each_value(void **state)
{
	static const char *const commands[] = { "work -j{n}", "rest" };
	struct bench_plan p = plan_of(commands, 2, "n 1,2"), one = plan_of(commands, 1, "n 1,2");

	(void)state;
	assert_int_equal(p.nr, 4);
	assert_string_equal(p.cases[0].command, "work -j1");
	assert_string_equal(p.cases[0].argv[2], "work -j1");
	assert_string_equal(p.cases[2].label, "work -j2");
	assert_string_equal(p.cases[1].label, "rest");
	assert_string_equal(p.cases[3].label, "rest #2");
	assert_string_equal(one.cases[1].label, "n=2");
	bench_plan_done(&p);
	bench_plan_done(&one);
}

static void a_command_of_words_needs_no_shell(void **state)
{
	char *argv[] = { "cp", "{f} x", NULL };
	struct bench_commands c = { .argv = argv, .shell = "sh" };
	struct bench_plan p = { .runs = 1 };

	(void)state;
	assert_int_equal(parameters_add_list(&p.parameters, "f a,b c"), 0);
	assert_int_equal(bench_plan_make(&p, &c), 0);
	assert_string_equal(p.cases[1].argv[1], "b c x");
	assert_string_equal(p.cases[1].command, "cp 'b c x'");
	bench_plan_done(&p);
}

/* Each turn as two letters: the case, and w for a warm-up or the round. */
static void turns_write(const struct bench_plan *p, char *out)
{
	size_t order[8];
	struct bench_turn t;

	for (size_t i = 0; i < (p->runs + p->warmups) * p->nr; i++) {
		bench_plan_turn(p, i, order, &t);
		*out++ = (char)('A' + t.of);
		*out++ = t.is_warmup ? 'w' : (char)('0' + t.round);
	}
	*out = '\0';
}

static void each_round_has_each_command_once(void **state)
{
	static const char *const commands[] = { "a", "b", "c", "d", "e" };
	struct bench_plan p = plan_of(commands, 5, NULL);
	char first[64], again[64];
	size_t order[5], places[5][5] = { 0 };

	(void)state;
	turns_write(&p, first);
	turns_write(&p, again);
	assert_string_equal(first, again);
	p.seed = 43;
	turns_write(&p, again);
	assert_string_not_equal(first, again);
	for (size_t round = 0; round < 5000; round++) {
		unsigned seen = 0;

		bench_plan_order(&p, round, order);
		for (size_t i = 0; i < 5; i++) {
			seen |= 1U << order[i];
			places[order[i]][i]++;
		}
		assert_int_equal(seen, 31);
	}
	for (size_t i = 0; i < 25; i++) /* 1000 expected, with a deviation of 28 */
		assert_in_range(places[i / 5][i % 5], 850, 1150);
	bench_plan_done(&p);
}

static void blocks_come_one_after_another(void **state)
{
	static const char *const commands[] = { "a", "b" };
	struct bench_plan p = plan_of(commands, 2, NULL);
	char text[64];

	(void)state;
	p.is_sequential = true;
	turns_write(&p, text);
	assert_string_equal(text, "AwA1A2A3BwB1B2B3");
	bench_plan_done(&p);
}

struct notes {
	char text[200];
	const char *fails; /* what fails */
};

static int note(struct notes *n, const char *what)
{
	strcat(n->text, what);
	strcat(n->text, " ");
	return n->fails && !strcmp(n->fails, what) ? -ECANCELED : 0;
}

static int step_note(void *context, const struct bench_case *c, enum bench_step step)
{
	(void)step;
	return note(context, c->steps[step]);
}

static int run_note(void *context, const struct bench_case *c, const struct bench_turn *t)
{
	(void)t;
	return note(context, c->command);
}

static void steps_notes_check(const char *fails, bool is_sequential, int wanted, const char *text)
{
	static const struct bench_ops ops = { .step = step_note, .run = run_note };
	static const char *const commands[] = { "a" }, *const setup[] = { "S{n}" },
				 *const prepare[] = { "p" }, *const cleanup[] = { "C{n}" };
	struct bench_commands c = { .commands = commands,
				    .nr = 1,
				    .shell = "sh",
				    .steps = { setup, prepare, NULL, cleanup },
				    .nr_steps = { 1, 1, 0, 1 } };
	struct bench_plan p = { .runs = 2, .is_sequential = is_sequential };
	struct notes n = { .fails = fails };

	assert_int_equal(parameters_add_list(&p.parameters, "n 1,2"), 0);
	assert_int_equal(bench_plan_make(&p, &c), 0);
	assert_int_equal(bench_run(&p, &ops, &n), wanted);
	assert_string_equal(n.text, text);
	bench_plan_done(&p);
}

static void steps_are_around_the_runs(void **state)
{
	(void)state;
	steps_notes_check(NULL, false, 0, "S1 S2 p a p a p a p a C1 C2 ");
	steps_notes_check(NULL, true, 0, "S1 p a p a C1 S2 p a p a C2 ");
}

static void what_was_set_up_is_cleaned_up_after_a_failure(void **state)
{
	(void)state;
	steps_notes_check("p", true, -ECANCELED, "S1 p C1 ");
	steps_notes_check("a", false, -ECANCELED, "S1 S2 p a C1 C2 ");
	steps_notes_check("S1", false, -ECANCELED, "S1 C1 ");
	steps_notes_check("C1", true, -ECANCELED, "S1 p a p a C1 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_separated_by_commas),
		cmocka_unit_test(scans_are_exact_decimals),
		cmocka_unit_test(names_in_braces_are_replaced_once),
		cmocka_unit_test(words_are_split_as_by_a_shell),
		cmocka_unit_test(each_command_meets_each_value),
		cmocka_unit_test(a_command_of_words_needs_no_shell),
		cmocka_unit_test(each_round_has_each_command_once),
		cmocka_unit_test(blocks_come_one_after_another),
		cmocka_unit_test(steps_are_around_the_runs),
		cmocka_unit_test(what_was_set_up_is_cleaned_up_after_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
