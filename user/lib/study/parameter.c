// SPDX-License-Identifier: BSD-2-Clause
#include "study/parameter.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 15 /* of a number: what is scaled fits in 64 bits */

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

/* Takes over @value. */
static int parameter_add_value(struct parameter *one, char *value)
{
	char **grown = value && one->nr < MAX_PARAMETER_VALUES
			       ? reallocarray(one->values, one->nr + 1, sizeof(*grown))
			       : NULL;

	if (!grown) {
		free(value);
		return value && one->nr == MAX_PARAMETER_VALUES ? -E2BIG : -ENOMEM;
	}
	one->values = grown;
	grown[one->nr++] = value;
	return 0;
}

/* The name at the beginning of @text, and what comes behind it. */
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
		if (!strncmp(p->list[i].name, text, n) && !p->list[i].name[n])
			return -EINVAL;
	*rest = text + n + 1;
	one->name = strndup(text, n);
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

/* Up to the next comma that separates; *@at is behind it then, or NULL after the last. */
static char *value_next(const char **at)
{
	char *value = malloc(strlen(*at) + 1);
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

/* A decimal number as whole ones: 0.25 is 25 with 2 decimals. */
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
	if (decimals ? asprintf(&text, "%s%" PRIu64 ".%0*" PRIu64, value < 0 ? "-" : "",
				plain / unit, (int)decimals, plain % unit) < 0
		     : asprintf(&text, "%" PRId64, value) < 0)
		return NULL;
	return text;
}

/* @text is "FROM TO". */
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
		/* what does not fit is more than the last */
		if (__builtin_add_overflow(range[0].value, range[2].value, &range[0].value))
			break;
	}
	return parameter_end(p, &one, err);
}

/* The parameter whose name in braces @text begins with; or p->nr. */
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
	FILE *f = open_memstream(&out, &room);

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
