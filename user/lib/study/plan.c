// SPDX-License-Identifier: BSD-2-Clause
#include "study/plan.h"

#include "base/memory.h"
#include "base/text.h"
#include "study/words.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const bench_step_names[NR_BENCH_STEPS] = {
	[BENCH_SETUP] = "setup",
	[BENCH_PREPARE] = "prepare",
	[BENCH_CONCLUDE] = "conclude",
	[BENCH_CLEANUP] = "cleanup",
};

static void case_done(struct bench_case *c)
{
	for (size_t i = 0; i < NR_BENCH_STEPS; i++)
		free(c->steps[i]);
	words_free(c->argv);
	free(c->values);
	free(c->command);
	free(c->label);
}

void bench_plan_done(struct bench_plan *p)
{
	for (size_t i = 0; i < p->nr; i++)
		case_done(&p->cases[i]);
	free(p->cases);
	parameters_done(&p->parameters);
	*p = (struct bench_plan){ 0 };
}

static char **argv_put(const struct bench_plan *p, const struct bench_case *c, char *const *argv)
{
	char **words = words_copy(argv);

	for (size_t i = 0; words && words[i]; i++) {
		char *word = parameters_put(&p->parameters, c->values, words[i]);

		if (!word) {
			words_free(words);
			return NULL;
		}
		free(words[i]);
		words[i] = word;
	}
	return words;
}

static int case_make_command(const struct bench_plan *p, struct bench_case *c,
			     const struct bench_commands *from, size_t nr)
{
	if (from->argv) {
		c->argv = argv_put(p, c, from->argv);
		c->command = c->argv ? words_quote(c->argv) : NULL;
	} else {
		c->command = parameters_put(&p->parameters, c->values, from->commands[nr]);
		if (c->command)
			c->argv = from->shell ? words_by_shell(from->shell, c->command)
					      : words_split(c->command);
		if (c->command && !c->argv)
			return errno == EINVAL ? -EINVAL : -ENOMEM;
	}
	return c->argv && c->command ? 0 : -ENOMEM;
}

/* Returns a text like "threads=2,mode=fast" if there is only one command, else the command. */
static char *label_make(const struct bench_plan *p, const struct bench_case *c, bool is_only)
{
	char *text = NULL;
	size_t room;
	FILE *f;

	if (!is_only || !p->parameters.nr)
		return memory_strdup(c->command);
	f = memory_open_memstream(&text, &room);
	for (size_t i = 0; f && i < p->parameters.nr; i++)
		fprintf(f, "%s%s=%s", i ? "," : "", p->parameters.list[i].name, c->values[i]);
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}

static const struct bench_case *label_find(const struct bench_plan *p, const char *label)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->cases[i].label, label))
			return &p->cases[i];
	return NULL;
}

static int case_make_label(const struct bench_plan *p, struct bench_case *c, bool is_only)
{
	char *plain = label_make(p, c, is_only);

	c->label = plain ? memory_strdup(plain) : NULL;
	for (unsigned i = 2; c->label && label_find(p, c->label); i++) {
		free(c->label);
		if (memory_asprintf(&c->label, "%s #%u", plain, i) < 0)
			c->label = NULL;
	}
	free(plain);
	return c->label ? 0 : -ENOMEM;
}

/* Treats @at as a number in mixed radix, with a digit for each parameter. */
static int case_make_values(const struct bench_plan *p, struct bench_case *c, size_t at)
{
	c->values = memory_calloc(p->parameters.nr + 1, sizeof(*c->values));
	for (size_t i = 0; c->values && i < p->parameters.nr; i++) {
		const struct parameter *one = &p->parameters.list[i];

		c->values[i] = one->values[at % one->nr];
		at /= one->nr;
	}
	return c->values ? 0 : -ENOMEM;
}

static int case_make_steps(const struct bench_plan *p, struct bench_case *c,
			   const struct bench_commands *from, size_t nr)
{
	for (size_t i = 0; i < NR_BENCH_STEPS; i++) {
		if (!from->nr_steps[i])
			continue;
		c->steps[i] = parameters_put(&p->parameters, c->values,
					     from->steps[i][from->nr_steps[i] == 1 ? 0 : nr]);
		if (!c->steps[i])
			return -ENOMEM;
	}
	return 0;
}

static int plan_add_case(struct bench_plan *p, const struct bench_commands *from, size_t nr,
			 size_t at)
{
	struct bench_case *c = &p->cases[p->nr];
	int err = case_make_values(p, c, at);

	if (!err)
		err = case_make_command(p, c, from, nr);
	if (!err)
		err = case_make_label(p, c, from->argv || from->nr == 1);
	if (!err)
		err = case_make_steps(p, c, from, nr);
	if (err)
		case_done(c);
	else
		p->nr++;
	return err;
}

/* Returns the number of combinations of values; 0 if there are too many. */
static size_t combinations_count(const struct parameters *p)
{
	size_t n = 1;

	for (size_t i = 0; i < p->nr && n; i++)
		n = n * p->list[i].nr <= MAX_BENCH_CASES ? n * p->list[i].nr : 0;
	return n;
}

int bench_plan_make(struct bench_plan *p, const struct bench_commands *c)
{
	size_t combinations = combinations_count(&p->parameters), commands = c->argv ? 1 : c->nr;
	int err = 0;

	if (!combinations || combinations * commands > MAX_BENCH_CASES)
		return -E2BIG;
	p->cases = memory_calloc(combinations * commands + 1, sizeof(*p->cases));
	if (!p->cases)
		return -ENOMEM;
	for (size_t at = 0; !err && at < combinations; at++)
		for (size_t nr = 0; !err && nr < commands; nr++)
			err = plan_add_case(p, c, nr, at);
	return err;
}

/* splitmix64 (Steele, Lea, Flood 2014): the same numbers on every machine. */
static uint64_t number_draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Returns a uniform number below @below. Draws again above the last multiple of it. */
static size_t number_draw_below(uint64_t *state, size_t below)
{
	const uint64_t most = UINT64_MAX - UINT64_MAX % below;
	uint64_t drawn;

	do
		drawn = number_draw(state);
	while (drawn >= most);
	return (size_t)(drawn % below);
}

void bench_plan_order(const struct bench_plan *p, size_t round, size_t *order)
{
	uint64_t state = p->seed;

	state = number_draw(&state) + round; /* a different state for each round */
	for (size_t i = 0; i < p->nr; i++)
		order[i] = i;
	for (size_t left = p->nr; left > 1; left--) {
		size_t at = number_draw_below(&state, left), was = order[left - 1];

		order[left - 1] = order[at];
		order[at] = was;
	}
}

void bench_plan_turn(const struct bench_plan *p, size_t i, size_t *order, struct bench_turn *t)
{
	const size_t rounds = p->warmups + p->runs;
	size_t round = p->is_sequential ? i % rounds : i / p->nr;

	if (!p->is_sequential && i % p->nr == 0)
		bench_plan_order(p, round, order);
	*t = (struct bench_turn){
		.of = p->is_sequential ? i / rounds : order[i % p->nr],
		.is_warmup = round < p->warmups,
		.is_first = !round,
		.is_last = round + 1 == rounds,
	};
	t->round = (t->is_warmup ? round : round - p->warmups) + 1;
}

#define MOST_DIGITS 15 /* scaled numbers fit in 64 bits */

static void parameter_done(struct parameter *one)
{
	for (size_t i = 0; i < one->nr; i++)
		free(one->values[i]);
	free(one->values);
	free(one->name);
	*one = (struct parameter){ 0 };
}

void parameters_done(struct parameters *p)
{
	for (size_t i = 0; i < p->nr; i++)
		parameter_done(&p->list[i]);
	p->nr = 0;
}

/* Appends @value and takes ownership of it, also on error. */
static int parameter_add_value(struct parameter *one, char *value)
{
	char **grown = value && one->nr < MAX_PARAMETER_VALUES
			       ? memory_reallocarray(one->values, one->nr + 1, sizeof(*grown))
			       : NULL;

	if (!grown) {
		free(value);
		return value && one->nr == MAX_PARAMETER_VALUES ? -E2BIG : -ENOMEM;
	}
	one->values = grown;
	grown[one->nr++] = value;
	return 0;
}

/* Splits off the name at the beginning of @text. */
static int parameter_begin(const struct parameters *p, struct parameter *one, const char *text,
			   const char **rest)
{
	size_t n = strcspn(text, " ");

	*one = (struct parameter){ 0 };
	if (!n || !text[n] || strcspn(text, "{}=") < n)
		return -EINVAL;
	if (p->nr == MAX_PARAMETERS)
		return -E2BIG;
	for (size_t i = 0; i < p->nr; i++)
		if (text_is(text, n, p->list[i].name))
			return -EINVAL;
	*rest = text + n + 1;
	one->name = memory_strndup(text, n);
	return one->name ? 0 : -ENOMEM;
}

static int parameter_end(struct parameters *p, struct parameter *one, int err)
{
	if (err)
		parameter_done(one);
	else
		p->list[p->nr++] = *one;
	return err;
}

/*
 * Returns the value up to the next comma. *@at is set after the comma, or to NULL after the last
 * value.
 */
static char *value_next(const char **at)
{
	char *value = memory_malloc(strlen(*at) + 1);
	const char *c = *at;
	size_t n = 0;

	if (!value)
		return NULL;
	for (; *c && *c != ','; c++) {
		if (*c == '\\' && c[1] == ',')
			c++;
		value[n++] = *c;
	}
	value[n] = '\0';
	*at = *c ? c + 1 : NULL;
	return value;
}

int parameters_add_list(struct parameters *p, const char *text)
{
	struct parameter one;
	const char *at;
	int err = parameter_begin(p, &one, text, &at);

	while (!err && at)
		err = parameter_add_value(&one, value_next(&at));
	return parameter_end(p, &one, err);
}

/* A decimal number as a scaled integer: 0.25 is 25 with 2 decimals. */
struct scaled {
	int64_t value;
	unsigned decimals;
};

static int scaled_parse(const char *text, struct scaled *s)
{
	bool is_negative = *text == '-', has_point = false;
	unsigned digits = 0;

	*s = (struct scaled){ 0 };
	for (text += is_negative; *text; text++) {
		if (*text == '.' && !has_point) {
			has_point = true;
			continue;
		}
		if (!isdigit((unsigned char)*text) || ++digits > MOST_DIGITS)
			return -EINVAL;
		s->value = s->value * 10 + (*text - '0');
		s->decimals += has_point;
	}
	if (is_negative)
		s->value = -s->value;
	return digits ? 0 : -EINVAL;
}

static int scaled_raise(struct scaled *s, unsigned decimals)
{
	for (; s->decimals < decimals; s->decimals++)
		if (__builtin_mul_overflow(s->value, 10, &s->value))
			return -EINVAL;
	return 0;
}

static char *scaled_format(int64_t value, unsigned decimals)
{
	uint64_t plain = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, unit = 1;
	char *text;

	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	if (decimals ? memory_asprintf(&text, "%s%" PRIu64 ".%0*" PRIu64, value < 0 ? "-" : "",
				       plain / unit, (int)decimals, plain % unit) < 0
		     : memory_asprintf(&text, "%" PRId64, value) < 0)
		return NULL;
	return text;
}

/* Parses "FROM TO" and @step, scaled to the same decimals. */
static int scan_parse(const char *text, const char *step, struct scaled range[3])
{
	const size_t first = strcspn(text, " ");
	unsigned decimals = 0;
	char from[2 * MOST_DIGITS];
	int err = text[first] && first < sizeof(from) ? 0 : -EINVAL;

	snprintf(from, sizeof(from), "%.*s", (int)first, text);
	text += first;
	if (!err)
		err = scaled_parse(from, &range[0]);
	if (!err)
		err = scaled_parse(text + 1, &range[1]);
	if (!err)
		err = scaled_parse(step ? step : "1", &range[2]);
	for (int i = 0; i < 3; i++)
		if (!err && range[i].decimals > decimals)
			decimals = range[i].decimals;
	for (int i = 0; !err && i < 3; i++)
		err = scaled_raise(&range[i], decimals);
	if (!err && (range[2].value <= 0 || range[1].value < range[0].value))
		err = -EINVAL;
	return err;
}

int parameters_add_scan(struct parameters *p, const char *text, const char *step)
{
	struct scaled range[3];
	struct parameter one;
	const char *rest;
	int err = parameter_begin(p, &one, text, &rest);

	if (!err)
		err = scan_parse(rest, step, range);
	while (!err && range[0].value <= range[1].value) {
		err = parameter_add_value(&one, scaled_format(range[0].value, range[0].decimals));
		/* an overflowing value is beyond the last */
		if (__builtin_add_overflow(range[0].value, range[2].value, &range[0].value))
			break;
	}
	return parameter_end(p, &one, err);
}

/* Returns the parameter whose name is in braces at @text; p->nr if there is none. */
static size_t parameter_at(const struct parameters *p, const char *text, size_t *length)
{
	size_t i;

	for (i = 0; i < p->nr; i++) {
		size_t n = strlen(p->list[i].name);

		*length = n + 2;
		if (*text == '{' && !strncmp(text + 1, p->list[i].name, n) && text[n + 1] == '}')
			break;
	}
	return i;
}

char *parameters_put(const struct parameters *p, const char *const *values, const char *text)
{
	size_t length, room;
	char *out = NULL;
	FILE *f = memory_open_memstream(&out, &room);

	if (!f)
		return NULL;
	while (*text) {
		size_t i = parameter_at(p, text, &length);

		if (i < p->nr) {
			fputs(values[i], f);
			text += length;
		} else {
			fputc(*text++, f);
		}
	}
	if (fclose(f)) {
		free(out);
		return NULL;
	}
	return out;
}
