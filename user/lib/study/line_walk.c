// SPDX-License-Identifier: BSD-2-Clause
#include "study/line_walk.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

void line_walk_begin(struct line_walk *w, const char *line)
{
	*w = (struct line_walk){ .at = line + strspn(line, BLANKS) };
	w->at = *w->at == '{' ? w->at + 1 : "";
}

/* Behind the string that begins at @p; NULL: it does not end. */
static const char *walk_string_end(const char *p)
{
	for (p++; *(p += strcspn(p, "\"\\")) == '\\'; p += 2)
		if (!p[1])
			return NULL;
	return *p ? p + 1 : NULL;
}

/* Behind the object or list that begins at @p. */
static const char *walk_nest_end(const char *p)
{
	size_t depth = 0;

	while (p && *(p += strcspn(p, "\"{}[]"))) {
		if (*p == '"') {
			p = walk_string_end(p);
			continue;
		}
		depth += *p == '{' || *p == '[' ? 1 : (size_t)-1;
		p++;
		if (!depth)
			return p;
	}
	return NULL;
}

static const char *walk_value_end(const char *p)
{
	if (*p == '"')
		return walk_string_end(p);
	return *p == '{' || *p == '[' ? walk_nest_end(p) : p + strcspn(p, ",}]" BLANKS);
}

bool line_walk_next(struct line_walk *w)
{
	const char *p = w->at + strspn(w->at, BLANKS ","), *end;

	if (*p != '"' || !(end = walk_string_end(p)))
		return false;
	w->key = p + 1;
	w->key_length = (size_t)(end - p) - 2;
	p = end + strspn(end, BLANKS);
	if (*p != ':')
		return false;
	p++;
	w->value = p + strspn(p, BLANKS);
	w->at = walk_value_end(w->value);
	if (!w->at)
		return false;
	w->value_length = (size_t)(w->at - w->value);
	return w->value_length > 0;
}

bool line_walk_is_at(const struct line_walk *w, const char *key)
{
	return strlen(key) == w->key_length && !memcmp(key, w->key, w->key_length);
}

double line_walk_number(const struct line_walk *w)
{
	double number;

	if (!isdigit((unsigned char)*w->value) && *w->value != '-')
		return NAN;
	number = strtod(w->value, NULL);
	return isfinite(number) ? number : NAN;
}
