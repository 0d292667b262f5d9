// SPDX-License-Identifier: BSD-2-Clause
#include "run/exact.h"

#include <ctype.h>
#include <string.h>

/* Behind the closing quote of the string that begins at @p. */
static const char *string_end(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : end;
}

static const char *blanks_end(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	return p;
}

/* What stands behind the colon of the last member @key, as jansson takes it; NULL: none does. */
static const char *member_find(const char *text, const char *end, const char *key)
{
	size_t n = strlen(key);
	const char *found = NULL;
	int depth = 0;

	for (const char *p = text; p < end;) {
		const char *word = p + 1, *after;

		if (*p != '"') {
			depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
			p++;
			continue;
		}
		p = string_end(p, end);
		after = blanks_end(p, end);
		/* no string but a key is before a colon */
		if (depth == 1 && after < end && *after == ':' && (size_t)(p - 1 - word) == n &&
		    !memcmp(word, key, n))
			found = blanks_end(after + 1, end);
	}
	return found;
}

static bool digit_add(uint64_t *v, char digit)
{
	return !__builtin_mul_overflow(*v, 10, v) &&
	       !__builtin_add_overflow(*v, (uint64_t)(digit - '0'), v);
}

bool exact_decimal(const char *text, size_t length, const char *key, unsigned decimals, uint64_t *v)
{
	const char *end = text + length, *p = member_find(text, end, key);
	uint64_t sum = 0;
	bool fits = true;

	if (!p || p == end || !isdigit((unsigned char)*p))
		return false;
	for (; fits && p < end && isdigit((unsigned char)*p); p++)
		fits = digit_add(&sum, *p);
	if (p < end && *p == '.')
		for (p++; fits && decimals && p < end && isdigit((unsigned char)*p);
		     p++, decimals--)
			fits = digit_add(&sum, *p);
	/* a digit too many, or an exponent */
	if (p < end && (isdigit((unsigned char)*p) || *p == 'e' || *p == 'E'))
		return false;
	for (; fits && decimals; decimals--)
		fits = digit_add(&sum, '0');
	if (fits)
		*v = sum;
	return fits;
}
