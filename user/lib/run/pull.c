// SPDX-License-Identifier: BSD-2-Clause
#include "run/member_reader.h"

#include "base/number.h"

#include <ctype.h>

#define MOST_DIGITS 18 /* of a whole number; more could overflow */

bool pull_take(struct pull *p, const char *text, size_t n)
{
	if ((size_t)(p->end - p->at) < n || memcmp(p->at, text, n) != 0)
		return false;
	p->at += n;
	return true;
}

static bool pull_has_digit(const struct pull *p)
{
	return p->at < p->end && isdigit((unsigned char)*p->at);
}

/* Returns false if there is no digit, or more than @most. */
static bool pull_digits(struct pull *p, unsigned most, uint64_t *v, unsigned *nr)
{
	for (*nr = 0; pull_has_digit(p) && *nr < most; p->at++, ++*nr)
		*v = *v * 10 + (uint64_t)(*p->at - '0');
	return *nr && !pull_has_digit(p);
}

static bool pull_decimal(struct pull *p, unsigned decimals, uint64_t most, uint64_t *v)
{
	const char *start = p->at;
	uint64_t part = 0;
	unsigned nr;

	*v = 0;
	if (!pull_digits(p, MOST_DIGITS, v, &nr) || (nr > 1 && *start == '0') ||
	    !number_scale(*v, decimals, v))
		return false;
	if (decimals && PULL_TAKE(p, ".")) {
		if (!pull_digits(p, decimals, &part, &nr) ||
		    !number_scale(part, decimals - nr, &part) ||
		    __builtin_add_overflow(*v, part, v))
			return false;
	}
	return *v <= most && pull_is_end_of_value(p);
}

bool pull_number(struct pull *p, unsigned decimals, uint64_t most, uint64_t *v)
{
	const char *start = p->at;

	if (pull_decimal(p, decimals, most, v))
		return true;
	p->at = start;
	*v = 0;
	return false;
}

bool pull_int32(struct pull *p, int32_t *v)
{
	const char *start = p->at;
	bool is_negative = PULL_TAKE(p, "-");
	uint64_t n;

	*v = 0;
	if (!pull_number(p, 0, INT32_MAX, &n) || (is_negative && !n)) {
		p->at = start;
		return false;
	}
	*v = is_negative ? -(int32_t)n : (int32_t)n;
	return true;
}

bool pull_text(struct pull *p, const char **text, size_t *length)
{
	const char *start = p->at, *c = start + 1;

	if (start == p->end || *start != '"')
		return false;
	while (c < p->end && *c >= 0x20 && *c < 0x7f && *c != '"' && *c != '\\')
		c++;
	if (c == p->end || *c != '"')
		return false;
	*length = (size_t)(c - start - 1);
	*text = p->to;
	memcpy(p->to, start + 1, *length);
	p->to += *length;
	*p->to++ = '\0';
	p->at = c + 1;
	return true;
}

/* Skips a string, with or without escapes. */
static bool pull_skip_text(struct pull *p, bool *is_plain)
{
	*is_plain = true;
	for (p->at++; p->at < p->end && *p->at != '"'; p->at++) {
		*is_plain &= *p->at >= 0x20 && *p->at < 0x7f && *p->at != '\\';
		if (*p->at == '\\' && ++p->at == p->end)
			return false;
	}
	return p->at < p->end && *p->at++ == '"';
}

bool pull_key(struct pull *p, const char **key, size_t *length, bool *is_plain)
{
	const char *start = p->at;

	if (start == p->end || *start != '"' || !pull_skip_text(p, is_plain))
		return false;
	*key = start + 1;
	*length = (size_t)(p->at - start - 2);
	pull_blanks(p);
	return PULL_TAKE(p, ":");
}

bool pull_is_end_of_value(const struct pull *p)
{
	return p->at < p->end && (*p->at == ',' || *p->at == '}');
}

static bool pull_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void pull_blanks(struct pull *p)
{
	for (; p->at < p->end && pull_is_blank(*p->at); p->at++)
		p->has_blank = true;
}

bool pull_skip(struct pull *p)
{
	size_t depth = 0;
	bool is_plain;

	do {
		pull_blanks(p);
		if (p->at == p->end)
			return false;
		if (*p->at == '"') {
			if (!pull_skip_text(p, &is_plain))
				return false;
			continue;
		}
		if (*p->at == '}' || *p->at == ']') {
			if (!depth)
				return false;
			depth--;
		} else if (*p->at == '{' || *p->at == '[') {
			depth++;
		} else if (!depth) {
			while (p->at < p->end && !strchr(",}] \t\r\n", *p->at))
				p->at++;
			return true;
		}
		p->at++;
	} while (depth);
	return true;
}
