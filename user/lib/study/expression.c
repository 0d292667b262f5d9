// SPDX-License-Identifier: BSD-2-Clause
#include "study/expression.h"

#include "base/text.h"
#include "text/format.h"
#include "study/stats.h"
#include "study/unusual.h"
#include "run/limit.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const ops[] = {
	[OP_GREATER] = ">",
	[OP_LESS] = "<",
	[OP_GREATER_EQUAL] = ">=",
	[OP_LESS_EQUAL] = "<=",
};

#define QUOTED 60 /* bytes of the expression in an error */

static const char *expression_skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

static int expression_parse_key(struct expression *e, const char **at, char *why, size_t room)
{
	size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyz_0123456789");
	const char *nearest;

	if (!n) {
		snprintf(why, room, "it must begin with a key, as in: rss_peak_bytes > +10%%");
		return -EINVAL;
	}
	if (run_key_find(*at, n, &e->key)) {
		nearest = run_key_nearest(*at, n);
		snprintf(why, room, "there is no key '%.*s'%s%s%s", n < QUOTED ? (int)n : QUOTED,
			 *at, nearest ? "; the nearest is '" : "", nearest ? nearest : "",
			 nearest ? "'" : "");
		return -EINVAL;
	}
	*at = expression_skip_blanks(*at + n);
	return 0;
}

static int expression_parse_operator(struct expression *e, const char **at, char *why, size_t room)
{
	size_t n = strspn(*at, "<>=!");

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		if (!text_is(*at, n, ops[i]))
			continue;
		e->op = (enum expression_op)i;
		*at = expression_skip_blanks(*at + n);
		return 0;
	}
	snprintf(why, room, "expected one of > < >= <= after '%s'", run_key(e->key).name);
	return -EINVAL;
}

static int expression_parse_suffix(struct expression *e, const char *suffix, char *why, size_t room)
{
	struct run_key key = run_key(e->key);
	enum metric_unit of;
	double factor;

	if (!suffix_find(suffix, &of, &factor)) {
		if (of != key.unit) {
			snprintf(why, room, "'%s' is not a unit of '%s'", suffix, key.name);
			return -EINVAL;
		}
		e->amount *= factor;
		return 0;
	}
	snprintf(why, room,
		 "'%.20s' is not a unit; use %% B KiB MiB GiB TiB kB MB GB TB us ms s min h d, or "
		 "none",
		 suffix);
	return -EINVAL;
}

static int expression_parse_amount(struct expression *e, const char *at, char *why, size_t room)
{
	bool is_signed = *at == '+' || *at == '-';
	size_t n = strspn(at + is_signed, "0123456789.");
	char number[32], *end = number;
	const char *suffix;

	if (n && n < sizeof(number)) {
		memcpy(number, at + is_signed, n);
		number[n] = '\0';
		e->amount = strtod(number, &end);
	}
	if (end == number || *end) {
		snprintf(why, room, "expected a number, not '%.20s'; examples: +10%%, +20MiB, 1.5",
			 at);
		return -EINVAL;
	}
	e->written = at;
	e->amount *= *at == '-' ? -1 : 1;
	e->kind = is_signed ? EXPRESSION_DIFFERENCE : EXPRESSION_VALUE;
	suffix = expression_skip_blanks(at + is_signed + n);
	if (!strcmp(suffix, "%") && !is_signed) {
		snprintf(why, room, "a percentage needs a sign, as in: +%.20s", at);
		return -EINVAL;
	}
	if (!strcmp(suffix, "%"))
		e->kind = EXPRESSION_RELATIVE;
	else if (*suffix)
		return expression_parse_suffix(e, suffix, why, room);
	return 0;
}

int expression_parse(struct expression *e, const char *text, char *why, size_t room)
{
	const char *at = expression_skip_blanks(text);
	int err;

	*e = (struct expression){ .text = text };
	err = expression_parse_key(e, &at, why, room);
	if (!err)
		err = expression_parse_operator(e, &at, why, room);
	return err ? err : expression_parse_amount(e, at, why, room);
}

static bool values_hold(double a, enum expression_op op, double b)
{
	switch (op) {
	case OP_GREATER:
		return a > b;
	case OP_LESS:
		return a < b;
	case OP_GREATER_EQUAL:
		return a >= b;
	default:
		return a <= b;
	}
}

/* Multiplies instead of dividing, so that 107 is not more than 7 % above 100. */
static bool relative_holds(const struct expression *e, const struct against *x, double base)
{
	if (base == 0)
		return values_hold(x->relative, e->op, e->amount);
	return values_hold(x->difference * 100, e->op, e->amount * fabs(base));
}

/* Returns true if an unknown peak cannot exceed the amount, because its upper bound does not. */
static bool bound_is_within(const struct expression *e, const struct comparison *c, size_t group)
{
	static const char upper[] = "rss_peak_upper_bytes";
	const struct spread *bound;
	size_t key;

	if (strcmp(run_key(e->key).name, "rss_peak_bytes") != 0 ||
	    run_key_find(upper, strlen(upper), &key))
		return false;
	bound = spread_of(c, group, key);
	return bound->nr && (e->op == OP_GREATER || e->op == OP_GREATER_EQUAL) &&
	       !values_hold(bound->median, e->op, e->amount);
}

/* Returns the smallest number of runs of each side that could reach p < ALPHA. */
static size_t runs_for_a_verdict(size_t tests)
{
	size_t n = 2;

	while (stats_rank_p_least(n, n) * (double)tests >= ALPHA)
		n++;
	return n;
}

#define NOETHER 1.308      /* (1.96 + 0.84)^2 / 6: p < 0.05 in 80 % of the cases */
#define LEAST_EFFECT 0.025 /* smaller ones would need more than 2000 runs */

/*
 * Estimates by Noether (1987) how many runs of each side would show a difference like this one, 0
 * if there is hardly any.
 */
static size_t runs_for_this_difference(const struct against *x, size_t na, size_t nb, size_t tests)
{
	double effect = fabs(x->test.u / ((double)na * (double)nb) - 0.5);
	size_t least = runs_for_a_verdict(tests), larger = na > nb ? na : nb, n;

	if (effect < LEAST_EFFECT)
		return 0;
	n = (size_t)ceil(NOETHER / (effect * effect));
	n = n > least ? n : least;
	return n > larger ? n : larger + 1;
}

static void judgement_add_noise(struct judgement *j, const struct against *x, size_t na, size_t nb,
				size_t tests)
{
	j->is_single = x->is_single;
	switch (x->verdict) {
	case VERDICT_NONE:
	case VERDICT_TOO_FEW:
		j->noise = NOISE_UNKNOWN;
		j->runs_needed = x->is_single ? LEAST_RUNS : runs_for_a_verdict(tests);
		break;
	case VERDICT_NO_SIGN:
		j->noise = NOISE_POSSIBLE;
		j->holds = false;
		if (!x->is_single)
			j->runs_needed = runs_for_this_difference(x, na, nb, tests);
		break;
	default:
		break;
	}
}

int expression_judge(const struct expression *e, const struct comparison *c, size_t group,
		     bool is_strict, struct judgement *j)
{
	const struct against *x = against_of(c, group, e->key);
	const struct spread *s = spread_of(c, group, e->key), *first = spread_of(c, 0, e->key);

	*j = (struct judgement){ 0 };
	if (e->kind == EXPRESSION_VALUE && !s->nr)
		return bound_is_within(e, c, group) ? 0 : -ENOENT;
	if (e->kind != EXPRESSION_VALUE && !x->has_both)
		return -ENOENT;
	if (e->kind == EXPRESSION_VALUE)
		j->is_beyond = values_hold(s->median, e->op, e->amount);
	else if (e->kind == EXPRESSION_DIFFERENCE)
		j->is_beyond = values_hold(x->difference, e->op, e->amount);
	else
		j->is_beyond = relative_holds(e, x, first->median);
	j->holds = j->is_beyond;
	if (e->kind == EXPRESSION_VALUE)
		return 0;
	judgement_add_noise(j, x, first->nr, s->nr, c->groups->nr - 1);
	if (is_strict && j->noise == NOISE_UNKNOWN)
		return -ERANGE;
	if (is_strict)
		j->holds &= x->verdict == VERDICT_DIFFERENT;
	return 0;
}

void expression_write_measured(FILE *f, const struct expression *e, const struct comparison *c,
			       size_t group)
{
	struct run_key key = run_key(e->key);
	const struct against *x = against_of(c, group, e->key);
	char a[NUMBER_BYTES];

	if (!spread_of(c, group, e->key)->nr) {
		fputs("unknown, but bounded", f);
		return;
	}
	fputs(number_format(a, key.unit, spread_of(c, group, e->key)->median), f);
	if (e->kind != EXPRESSION_VALUE)
		fprintf(f, " against %s,",
			number_format(a, key.unit, spread_of(c, 0, e->key)->median));
	if (e->kind == EXPRESSION_DIFFERENCE)
		fprintf(f, " %s", number_difference(a, key.unit, x->difference));
	else if (e->kind == EXPRESSION_RELATIVE)
		fprintf(f, " %s", number_relative(a, x->relative));
}

static void runs_needed_write(FILE *f, const struct judgement *j)
{
	if (!j->runs_needed)
		return;
	if (j->is_single)
		fprintf(f, "; %zu earlier runs are needed", j->runs_needed);
	else
		fprintf(f, "; %s%zu runs of each side are needed",
			j->noise == NOISE_POSSIBLE ? "about " : "", j->runs_needed);
}

void judgement_write_noise(FILE *f, const struct judgement *j, const struct expression *e,
			   const struct comparison *c, size_t group)
{
	const struct against *x = against_of(c, group, e->key);

	if (!j->is_beyond || e->kind == EXPRESSION_VALUE)
		return;
	if (j->noise == NOISE_NONE) {
		if (x->verdict == VERDICT_DIFFERENT)
			fprintf(f, " (%s)", verdict_name(x->verdict));
		return;
	}
	fputs(j->noise == NOISE_UNKNOWN ? " (too few runs to tell" : " (may be noise", f);
	if (j->noise == NOISE_POSSIBLE && !x->is_single)
		fprintf(f, ", p %.2f", x->p_corrected);
	runs_needed_write(f, j);
	fputc(')', f);
}

void expression_write(FILE *f, const struct expression *e, const struct judgement *j,
		      const struct comparison *c, size_t group)
{
	fprintf(f, "%s: ", run_key(e->key).name);
	expression_write_measured(f, e, c, group);
	fprintf(f, " %s %s", ops[e->op], e->written);
	judgement_write_noise(f, j, e, c, group);
}
