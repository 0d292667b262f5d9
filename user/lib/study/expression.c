// SPDX-License-Identifier: BSD-2-Clause
#include "study/expression.h"

#include "base/text.h"
#include "text/format.h"
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
		snprintf(why, room, "a key comes first, as in: rss_peak_bytes > +10%%");
		return -EINVAL;
	}
	if (compare_key_find(*at, n, &e->key)) {
		nearest = compare_key_nearest(*at, n);
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
	snprintf(why, room, "after '%s' comes one of > < >= <=", compare_key(e->key).name);
	return -EINVAL;
}

static int expression_parse_suffix(struct expression *e, const char *suffix, char *why, size_t room)
{
	struct compare_key key = compare_key(e->key);
	enum metric_unit of;
	double factor;

	if (!suffix_find(suffix, &of, &factor)) {
		if (of != key.unit) {
			snprintf(why, room, "'%s' is no unit of '%s'", suffix, key.name);
			return -EINVAL;
		}
		e->amount *= factor;
		return 0;
	}
	snprintf(why, room,
		 "'%.20s' is no unit: %% B KiB MiB GiB TiB kB MB GB TB us ms s min h d are, or "
		 "none at all",
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
		snprintf(why, room, "'%.20s' is no number, as in +10%%, +20MiB or 1.5", at);
		return -EINVAL;
	}
	e->written = at;
	e->amount *= *at == '-' ? -1 : 1;
	e->kind = is_signed ? EXPRESSION_DIFFERENCE : EXPRESSION_VALUE;
	suffix = expression_skip_blanks(at + is_signed + n);
	if (!strcmp(suffix, "%") && !is_signed) {
		snprintf(why, room, "a difference has a sign: +%.20s", at);
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

	if (strcmp(compare_key(e->key).name, "rss_peak_bytes") != 0 ||
	    compare_key_find(upper, strlen(upper), &key))
		return false;
	bound = spread_of(c, group, key);
	return bound->nr && (e->op == OP_GREATER || e->op == OP_GREATER_EQUAL) &&
	       !values_hold(bound->median, e->op, e->amount);
}

int expression_holds(const struct expression *e, const struct comparison *c, size_t group,
		     bool significant, bool *holds)
{
	const struct against *x = against_of(c, group, e->key);
	const struct spread *s = spread_of(c, group, e->key);

	*holds = false;
	if (e->kind == EXPRESSION_VALUE && !s->nr)
		return bound_is_within(e, c, group) ? 0 : -ENOENT;
	if (e->kind != EXPRESSION_VALUE && !x->has_both)
		return -ENOENT;
	switch (e->kind) {
	case EXPRESSION_VALUE:
		*holds = values_hold(s->median, e->op, e->amount);
		return 0;
	case EXPRESSION_DIFFERENCE:
		*holds = values_hold(x->difference, e->op, e->amount);
		break;
	default:
		*holds = relative_holds(e, x, spread_of(c, 0, e->key)->median);
	}
	if (!significant)
		return 0;
	if (x->verdict == VERDICT_NONE || x->verdict == VERDICT_TOO_FEW)
		return -ERANGE;
	*holds &= x->verdict == VERDICT_DIFFERENT;
	return 0;
}

void expression_write(FILE *f, const struct expression *e, const struct comparison *c, size_t group)
{
	struct compare_key key = compare_key(e->key);
	const struct against *x = against_of(c, group, e->key);
	char a[NUMBER_BYTES];

	fprintf(f, "%s: %s", key.name,
		number_format(a, key.unit, spread_of(c, group, e->key)->median));
	if (e->kind != EXPRESSION_VALUE)
		fprintf(f, " against %s,",
			number_format(a, key.unit, spread_of(c, 0, e->key)->median));
	if (e->kind == EXPRESSION_DIFFERENCE)
		fprintf(f, " %s", number_difference(a, key.unit, x->difference));
	else if (e->kind == EXPRESSION_RELATIVE)
		fprintf(f, " %s", number_relative(a, x->relative));
	fprintf(f, " %s %s", ops[e->op], e->written);
	if (x->verdict != VERDICT_NONE && e->kind != EXPRESSION_VALUE)
		fprintf(f, " (%s)", verdict_name(x->verdict));
}
