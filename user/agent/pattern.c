// SPDX-License-Identifier: BSD-2-Clause
/* Compiles and matches patterns of cgroup paths. */
#include "agent/pattern.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define MAX_TEXTS 2 /* in a component: each multiplies the time of matching a hostile name */

static const struct {
	const char *name;
	enum token_type type;
} classes[] = {
	{ "text", TOKEN_TEXT },   { "number", TOKEN_NUMBER }, { "hex", TOKEN_HEX },
	{ "hash", TOKEN_HASH },   { "uuid", TOKEN_UUID },     { "service", TOKEN_SERVICE },
	{ "scope", TOKEN_SCOPE }, { "slice", TOKEN_SLICE },   { "unit", TOKEN_UNIT },
};

static bool is_whole_component(enum token_type type)
{
	return type == TOKEN_SERVICE || type == TOKEN_SCOPE || type == TOKEN_SLICE ||
	       type == TOKEN_UNIT;
}

int pattern_part(const struct pattern *p, const char *name, size_t length)
{
	for (size_t i = 0; i < p->nr_parts; i++)
		if (p->names[i].length == length && !memcmp(p->names[i].text, name, length))
			return (int)i;
	return -1;
}

static const char *token_add(struct pattern *p, struct token token)
{
	if (p->nr_tokens == PATTERN_TOKENS)
		return "too many parts";
	p->tokens[p->nr_tokens++] = token;
	return NULL;
}

static bool class_find(const char *name, size_t length, enum token_type *type)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		if (text_is(name, length, classes[i].name)) {
			*type = classes[i].type;
			return true;
		}
	}
	return false;
}

/* Compiles {NAME} or {NAME:CLASS} at *@at. Returns NULL, or the error. */
static const char *part_compile(struct pattern *p, const char **at)
{
	const char *name = *at + 1, *class;
	size_t length = strspn(name, NAME_LETTERS), class_length;
	struct token t = { .type = TOKEN_TEXT };

	if (!length)
		return "expected a name of letters, digits and _ after {";
	if (pattern_part(p, name, length) >= 0)
		return "duplicate name of a part";
	if (p->nr_parts == PATTERN_PARTS)
		return "more than 6 parts in {}";
	*at = name + length;
	if (**at == ':') {
		class = *at + 1;
		class_length = strspn(class, NAME_LETTERS);
		if (!class_find(class, class_length, &t.type))
			return "unknown class; classes are text, number, hex, hash, uuid, service, "
			       "scope, slice and unit";
		*at = class + class_length;
	}
	if (**at != '}')
		return "expected {NAME} or {NAME:CLASS}";
	++*at;
	t.part = (int)p->nr_parts;
	p->names[p->nr_parts] = (struct piece){ name, length };
	p->types[p->nr_parts++] = t.type;
	return token_add(p, t);
}

/* Compiles **SUFFIX, a whole component whose suffix has no parts. Returns NULL, or the error. */
static const char *any_number_compile(struct pattern *p, const char **at)
{
	size_t length = strcspn(*at + 2, "/*{}");
	struct token t = { TOKEN_ANY_NUMBER, -1, { *at + 2, length } };

	for (size_t i = 0; i < p->nr_tokens; i++)
		if (p->tokens[i].type == TOKEN_ANY_NUMBER)
			return "more than one **";
	*at += 2 + length;
	if (!length || **at != '/')
		return "** must be followed by a suffix and another component, as in **.slice/";
	return token_add(p, t);
}

/* Checks the tokens of the component that begins at @first. Returns NULL, or the error. */
static const char *component_check(const struct pattern *p, size_t first)
{
	unsigned texts = 0;

	if (first == p->nr_tokens)
		return "empty component between two / or at the end";
	for (size_t i = first; i < p->nr_tokens; i++) {
		enum token_type type = p->tokens[i].type;

		texts += type == TOKEN_TEXT;
		if (is_whole_component(type) && p->nr_tokens - first > 1)
			return "a service, scope, slice or unit must be a whole component";
		if (i > first && type != TOKEN_LITERAL && p->tokens[i - 1].type != TOKEN_LITERAL)
			return "no text between two of {} or *";
	}
	return texts > MAX_TEXTS ? "more than two * or {NAME} in one component" : NULL;
}

/* Compiles the component at *@at, after a /. Returns NULL, or the error. */
static const char *component_compile(struct pattern *p, const char **at)
{
	size_t first = p->nr_tokens, length;
	const char *wrong = NULL;

	if (!strncmp(*at, "**", 2))
		return any_number_compile(p, at);
	while (!wrong && **at && **at != '/') {
		if (**at == '{') {
			wrong = part_compile(p, at);
		} else if (**at == '*') {
			++*at;
			wrong = token_add(p, (struct token){ TOKEN_TEXT, -1, { 0 } });
		} else if (**at == '}') {
			wrong = "} without {";
		} else {
			length = strcspn(*at, "/*{}");
			wrong = token_add(p, (struct token){ TOKEN_LITERAL, -1, { *at, length } });
			*at += length;
		}
	}
	if (!wrong)
		wrong = component_check(p, first);
	return wrong ? wrong : token_add(p, (struct token){ TOKEN_END, -1, { 0 } });
}

int pattern_compile(struct pattern *p, const char *text, char *why, size_t size)
{
	const char *wrong = NULL, *at;

	memset(p, 0, sizeof(*p));
	snprintf(p->text, sizeof(p->text), "%s", text);
	at = p->text;
	if (*at != '/')
		wrong = "expected / at the beginning";
	else if (strlen(text) >= sizeof(p->text))
		wrong = "too long";
	while (!wrong && *at == '/') {
		at++;
		wrong = component_compile(p, &at);
	}
	if (!wrong)
		return 0;
	snprintf(why, size, "%s", wrong);
	return -EINVAL;
}

/* Matching. Users choose the names of cgroups, so time and memory are bounded. */

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

/* Lower case only, as programs write them. */
static size_t hex_span(struct piece s)
{
	size_t n = 0;

	while (n < s.length &&
	       (isdigit((unsigned char)s.text[n]) || (s.text[n] >= 'a' && s.text[n] <= 'f')))
		n++;
	return n;
}

/* 8-4-4-4-12 digits with - or _ (names of slices cannot contain other -), or 32 digits. */
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

/* Returns the length of the prefix of @s that a token of fixed extent matches; 0 if none. */
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

/* Matches the tokens from @t to the end of its component with @s; a text is greedy. */
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

/*
 * Matches @t, which is **SUFFIX, with as many components as possible, and the next tokens with the
 * rest.
 */
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

/*
 * Matches the tokens from @t on with the components from *@at on; *@at is then after the last of
 * them.
 */
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
