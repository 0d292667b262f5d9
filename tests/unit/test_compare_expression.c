// SPDX-License-Identifier: BSD-2-Clause
/* What --fail-if takes, what it refuses, and when it holds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/expression.h"
#include "compare_fixture.h"

#include <errno.h>

static struct expression parse(const char *text)
{
	struct expression e;
	char why[200] = "";

	assert_int_equal(expression_parse(&e, text, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	return e;
}

static void refuse(const char *text, const char *part)
{
	struct expression e;
	char why[200] = "";

	assert_int_equal(expression_parse(&e, text, why, sizeof(why)), -EINVAL);
	if (!strstr(why, part))
		fail_msg("no %s in %s", part, why);
}

static void a_relative_difference_is_in_percent(void **state)
{
	struct expression e = parse("rss_peak_bytes > +10%");

	(void)state;
	assert_int_equal(e.key, key_of("rss_peak_bytes"));
	assert_int_equal(e.op, OP_GREATER);
	assert_int_equal(e.kind, EXPRESSION_RELATIVE);
	assert_true(e.amount == 10);
	assert_string_equal(e.written, "+10%");
	assert_true(parse("cores_mean <= -2.5 %").amount == -2.5);
}

static void differences_have_units(void **state)
{
	(void)state;
	assert_true(parse("rss_peak_bytes>=+20MiB").amount == 20 * 1048576.0);
	assert_true(parse("rss_peak_bytes<-1.5 GiB").amount == -1.5 * 1073741824.0);
	assert_true(parse("read_bytes>+3KiB").amount == 3072);
	assert_true(parse("wall_seconds>+500ms").amount == 0.5);
	assert_true(parse("wall_seconds>+2min").amount == 120);
	assert_int_equal(parse("wall_seconds>+2min").kind, EXPRESSION_DIFFERENCE);
}

static void what_has_no_sign_is_the_value_itself(void **state)
{
	(void)state;
	assert_int_equal(parse("rss_peak_bytes > 2GiB").kind, EXPRESSION_VALUE);
	assert_true(parse("rss_peak_bytes > 2GiB").amount == 2147483648.0);
	assert_true(parse("rss_peak_bytes > 2G").amount == 2147483648.0);
	assert_true(parse("rss_peak_bytes > 1.5 MB").amount == 1500000.0);
	assert_true(parse(" \toom_kills>0").amount == 0);
	assert_true(parse("cpu_seconds < 1.25").amount == 1.25);
}

static void what_is_no_expression_is_refused_in_one_line(void **state)
{
	(void)state;
	refuse("", "it must begin with a key, as in: ");
	refuse("> +10%", "it must begin with a key, as in: ");
	refuse("\033[2J > 1", "it must begin with a key, as in: ");
	refuse("rss_peak_bytes", "expected one of");
	refuse("rss_peak_bytes = 1", "expected one of");
	refuse("rss_peak_bytes >> 1", "expected one of");
	refuse("rss_peak_bytes =< 1", "expected one of");
	refuse("rss_peak_bytes >", "expected a number, not");
	refuse("rss_peak_bytes > +", "expected a number, not");
	refuse("rss_peak_bytes > ++1", "expected a number, not");
	refuse("rss_peak_bytes > 1.2.3", "expected a number, not");
	refuse("rss_peak_bytes > .", "expected a number, not");
	refuse("rss_peak_bytes > nan", "expected a number, not");
	refuse("rss_peak_bytes > inf", "expected a number, not");
	refuse("rss_peak_bytes > 0x10", "is not a unit");
	refuse("rss_peak_bytes > 1e3", "is not a unit");
	refuse("rss_peak_bytes > 1 mB", "is not a unit");
	refuse("rss_peak_bytes > 1m", "is not a unit");
	refuse("rss_peak_bytes > 1s", "'s' is not a unit of 'rss_peak_bytes'");
	refuse("wall_seconds > 1KiB", "'KiB' is not a unit of 'wall_seconds'");
	refuse("minflt > 1KiB", "'KiB' is not a unit of 'minflt'");
	refuse("rss_peak_bytes > 10%", "a percentage needs a sign, as in: +10%");
	refuse("rss_peak_bytes > +10% and more", "is not a unit");
	refuse("wall_seconds > 11111111111111111111111111111111111111111111",
	       "expected a number, not");
}

static void an_error_for_an_unknown_key_names_the_nearest_one(void **state)
{
	char *lengthy = calloc(1, 100001);

	(void)state;
	refuse("rss_peek_bytes > +10%", "the nearest is 'rss_peak_bytes'");
	refuse("wall_second > 1s", "the nearest is 'wall_seconds'");
	refuse("cpu_second > 1s", "the nearest is 'cpu_seconds'");
	refuse("rss_bytes > 1", "there is no key 'rss_bytes'"); /* a gauge */
	memset(lengthy, 'x', 100000);
	refuse(lengthy, "there is no key 'xxx");
	free(lengthy);
}

/* One run of @key = @a against one of @b. */
static int holds(const char *text, const char *key, double a, double b, bool significant,
		 bool *said)
{
	const struct side *without;
	struct sides all = { 0 };
	struct comparison c;
	struct expression e = parse(text);
	struct judgement j;
	struct groups g;
	int err;

	add_tagged(&all, "old", key, a);
	add_tagged(&all, "new", key, b);
	assert_int_equal(groups_by_tag(&g, &all, "build", &without), 0);
	assert_int_equal(groups_compare(&c, &g), 0);
	err = expression_judge(&e, &c, 1, significant, &j);
	*said = j.holds;
	comparison_done(&c);
	groups_done(&g);
	sides_done(&all);
	return err;
}

static void assert_holds(const char *text, const char *key, double a, double b)
{
	bool said = false;

	assert_int_equal(holds(text, key, a, b, false, &said), 0);
	assert_true(said);
}

static void assert_not(const char *text, const char *key, double a, double b)
{
	bool said = true;

	assert_int_equal(holds(text, key, a, b, false, &said), 0);
	assert_false(said);
}

static void relative_differences_end_where_they_say(void **state)
{
	(void)state;
	assert_holds("majflt > +10%", "majflt", 100, 111);
	assert_not("majflt > +10%", "majflt", 100, 110);
	assert_holds("majflt >= +10%", "majflt", 100, 110);
	assert_not("majflt > +7%", "majflt", 100, 107); /* 0.07 * 100 is more than 7 in binary */
	assert_not("majflt < -5%", "majflt", 100, 95);
	assert_holds("majflt < -5%", "majflt", 100, 94);
	assert_holds("majflt <= -5%", "majflt", 100, 95);
}

static void from_nothing_to_something_is_more_than_any_percent(void **state)
{
	(void)state;
	assert_holds("majflt > +1000%", "majflt", 0, 1);
	assert_not("majflt > +10%", "majflt", 0, 0);
	assert_not("majflt >= +10%", "majflt", 0, 0);
	assert_holds("majflt >= +0%", "majflt", 0, 0);
}

static void absolute_differences_and_values_are_compared(void **state)
{
	(void)state;
	assert_holds("rss_peak_bytes > +1KiB", "rss_peak_bytes", 1024, 2049);
	assert_not("rss_peak_bytes > +1KiB", "rss_peak_bytes", 1024, 2048);
	assert_holds("rss_peak_bytes > 2KiB", "rss_peak_bytes", 1, 2049);
	assert_not("rss_peak_bytes > 2KiB", "rss_peak_bytes", 1 << 20, 2048);
}

static void a_key_that_a_side_lacks_is_an_error(void **state)
{
	bool said;

	(void)state;
	assert_int_equal(holds("majflt > +1%", "minflt", 1, 1, false, &said), -ENOENT);
	assert_int_equal(holds("majflt > 1", "minflt", 1, 1, false, &said), -ENOENT);
}

static void a_peak_that_is_not_known_is_below_its_upper_bound(void **state)
{
	static const char upper[] = "rss_peak_upper_bytes";
	bool said;

	(void)state;
	assert_not("rss_peak_bytes > 2KiB", upper, 1, 2048);
	assert_not("rss_peak_bytes >= 2KiB", upper, 1, 2047);
	assert_int_equal(holds("rss_peak_bytes > 2KiB", upper, 1, 2049, false, &said), -ENOENT);
	assert_int_equal(holds("rss_peak_bytes < 2KiB", upper, 1, 1, false, &said), -ENOENT);
	assert_int_equal(holds("rss_peak_bytes > +10%", upper, 1, 1, false, &said), -ENOENT);
}

static void single_runs_give_no_verdict_about_noise(void **state)
{
	bool said;

	(void)state;
	assert_int_equal(holds("majflt > +1%", "majflt", 1, 2, true, &said), -ERANGE);
	assert_int_equal(holds("majflt > 1", "majflt", 1, 2, true, &said), 0); /* no difference */
	assert_true(said);
}

/* Judges "minflt > +10%" for @nr runs of each side, and writes its line to @line. */
static struct judgement judge(const double *old, const double *new, size_t nr, char line[200])
{
	struct expression e = parse("minflt > +10%");
	const struct side *without;
	struct sides all = { 0 };
	struct judgement j;
	struct comparison c;
	struct groups g;
	FILE *f = fmemopen(line, 200, "w");

	for (size_t i = 0; i < nr; i++) {
		add_tagged(&all, "old", "minflt", old[i]);
		add_tagged(&all, "new", "minflt", new[i]);
	}
	assert_int_equal(groups_by_tag(&g, &all, "build", &without), 0);
	assert_int_equal(groups_compare(&c, &g), 0);
	assert_int_equal(expression_judge(&e, &c, 1, false, &j), 0);
	expression_write(f, &e, &j, &c, 1);
	fclose(f);
	comparison_done(&c);
	groups_done(&g);
	sides_done(&all);
	return j;
}

static void what_may_be_noise_does_not_hold_and_states_how_many_runs_tell(void **state)
{
	static const double old[] = { 100, 110, 120, 130 }, far[] = { 200, 210, 220, 230 };
	static const double near[] = { 105, 140, 160, 90 };
	struct judgement j;
	char line[200];

	(void)state;
	j = judge(old, far, 4, line);
	assert_true(j.is_beyond && j.holds && j.noise == NOISE_NONE);
	assert_string_equal(line, "minflt: 215 against 115, +87.0 % > +10% (more than noise)");
	j = judge(old, (double[]){ 105, 140, 160, 125 }, 4, line);
	assert_true(j.is_beyond && !j.holds && j.noise == NOISE_POSSIBLE);
	assert_string_equal(line, "minflt: 132.50 against 115, +15.2 % > +10% (may be noise, p "
				  "0.34; about 21 runs of each side are needed)");
	j = judge(old, far, 3, line);
	assert_true(j.is_beyond && j.holds && j.noise == NOISE_UNKNOWN);
	assert_string_equal(line,
			    "minflt: 210 against 110, +90.9 % > +10% (too few runs to tell; 4 runs "
			    "of each side are needed)");
	j = judge(old, near, 1, line);
	assert_true(!j.is_beyond && !j.holds);
	assert_string_equal(line, "minflt: 105 against 100, +5.0 % > +10%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_relative_difference_is_in_percent),
		cmocka_unit_test(differences_have_units),
		cmocka_unit_test(what_has_no_sign_is_the_value_itself),
		cmocka_unit_test(what_is_no_expression_is_refused_in_one_line),
		cmocka_unit_test(an_error_for_an_unknown_key_names_the_nearest_one),
		cmocka_unit_test(relative_differences_end_where_they_say),
		cmocka_unit_test(from_nothing_to_something_is_more_than_any_percent),
		cmocka_unit_test(absolute_differences_and_values_are_compared),
		cmocka_unit_test(a_key_that_a_side_lacks_is_an_error),
		cmocka_unit_test(a_peak_that_is_not_known_is_below_its_upper_bound),
		cmocka_unit_test(what_may_be_noise_does_not_hold_and_states_how_many_runs_tell),
		cmocka_unit_test(single_runs_give_no_verdict_about_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
