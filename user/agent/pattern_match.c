// SPDX-License-Identifier: BSD-2-Clause
/* Matches cgroup paths with patterns. Users choose names of cgroups: time and memory are bounded.
 */
#include "agent/pattern.h"

#include <ctype.h>
#include <string.h>

#define HASH_DIGITS 64

void path_split(struct path *path, const char *text)
{
	path->nr = 0;
	while (path->nr < PATH_COMPONENTS) {
		text += strspn(text, "/");
		if (!*text)
			return;
		path->components[path->nr] = (struct piece){ text, strcspn(text, "/") };
		text += path->components[path->nr++].length;
	}
}

static size_t digits_span(struct piece s)
{
	size_t n = 0;

	while (n < s.length && isdigit((unsigned char)s.text[n]))
		n++;
	return n;
}

/* Lower case, as programs write them. */
static size_t hex_span(struct piece s)
{
	size_t n = 0;

	while (n < s.length &&
	       (isdigit((unsigned char)s.text[n]) || (s.text[n] >= 'a' && s.text[n] <= 'f')))
		n++;
	return n;
}

/* 8-4-4-4-12 digits, with - or _ (systemd's names of slices have no other -); or 32 digits. */
static size_t uuid_span(struct piece s)
{
	static const size_t groups[] = { 8, 4, 4, 4, 12 };
	size_t at = 0;

	if (hex_span(s) == 32)
		return 32;
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		struct piece rest = { s.text + at, s.length - at };

		if (hex_span(rest) != groups[i])
			return 0;
		at += groups[i];
		if (i == sizeof(groups) / sizeof(*groups) - 1)
			break;
		if (at == s.length || (s.text[at] != '-' && s.text[at] != '_'))
			return 0;
		at++;
	}
	return at;
}

static bool has_end(struct piece s, const char *end, size_t length)
{
	return s.length > length && !memcmp(s.text + s.length - length, end, length);
}

static bool unit_fits(enum token_type type, struct piece s)
{
	return ((type == TOKEN_SERVICE || type == TOKEN_UNIT) && has_end(s, ".service", 8)) ||
	       ((type == TOKEN_SCOPE || type == TOKEN_UNIT) && has_end(s, ".scope", 6)) ||
	       (type == TOKEN_SLICE && has_end(s, ".slice", 6));
}

/* How much of the beginning of @s a token stands for that has no choice; 0: it does not fit. */
static size_t token_span(const struct token *t, struct piece s)
{
	size_t n;

	switch (t->type) {
	case TOKEN_LITERAL:
		n = t->literal.length;
		return s.length >= n && !memcmp(s.text, t->literal.text, n) ? n : 0;
	case TOKEN_NUMBER:
		return digits_span(s);
	case TOKEN_HEX:
		return hex_span(s);
	case TOKEN_HASH:
		return hex_span(s) == HASH_DIGITS ? HASH_DIGITS : 0;
	case TOKEN_UUID:
		return uuid_span(s);
	default:
		return unit_fits(t->type, s) ? s.length : 0;
	}
}

/* The tokens from @t to the end of its component, with @s. A text is as long as it can be. */
static bool component_match(const struct token *t, struct piece s, struct piece *parts)
{
	size_t max, min;

	for (; t->type != TOKEN_END; t++) {
		if (t->type == TOKEN_TEXT && t[1].type != TOKEN_END) {
			max = s.length;
			min = 1;
		} else {
			max = min = t->type == TOKEN_TEXT ? s.length : token_span(t, s);
		}
		for (size_t n = max; n > min; n--) {
			struct piece rest = { s.text + n, s.length - n };

			if (!component_match(t + 1, rest, parts))
				continue;
			if (t->part >= 0)
				parts[t->part] = (struct piece){ s.text, n };
			return true;
		}
		if (!min || min > s.length)
			return false;
		if (t->part >= 0)
			parts[t->part] = (struct piece){ s.text, min };
		s.text += min;
		s.length -= min;
	}
	return !s.length;
}

static bool components_match(const struct pattern *p, const struct token *t,
			     const struct path *path, size_t *at, struct piece *parts);

/* As many components as possible for @t, which is **SUFFIX, and the rest for the tokens behind. */
static bool any_number_match(const struct pattern *p, const struct token *t,
			     const struct path *path, size_t *at, struct piece *parts)
{
	size_t max = *at, end;

	while (max < path->nr && has_end(path->components[max], t->literal.text, t->literal.length))
		max++;
	for (size_t i = max + 1; i-- > *at;) {
		end = i;
		if (components_match(p, t + 1, path, &end, parts)) {
			*at = end;
			return true;
		}
	}
	return false;
}

/* The tokens from @t on with the components from *@at on, which is then behind the last of them. */
static bool components_match(const struct pattern *p, const struct token *t,
			     const struct path *path, size_t *at, struct piece *parts)
{
	const struct token *end = p->tokens + p->nr_tokens;
	size_t i = *at;

	for (; t < end && t->type != TOKEN_ANY_NUMBER; i++) {
		if (i == path->nr || !component_match(t, path->components[i], parts))
			return false;
		while (t++->type != TOKEN_END)
			;
	}
	*at = i;
	return t == end || any_number_match(p, t, path, at, parts);
}

size_t pattern_match(const struct pattern *p, const struct path *path, size_t from,
		     struct piece parts[PATTERN_PARTS])
{
	size_t at = from;

	return components_match(p, p->tokens, path, &at, parts) ? at - from : 0;
}
