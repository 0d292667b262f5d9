// SPDX-License-Identifier: BSD-2-Clause
/* Compiles patterns of cgroup paths. */
#include "agent/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define MAX_TEXTS 2 /* in a component: each multiplies the time that a hostile name costs */

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
		return "it has too many parts";
	p->tokens[p->nr_tokens++] = token;
	return NULL;
}

static bool class_find(const char *name, size_t length, enum token_type *type)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		if (strlen(classes[i].name) == length && !memcmp(classes[i].name, name, length)) {
			*type = classes[i].type;
			return true;
		}
	}
	return false;
}

/* {NAME} or {NAME:CLASS} at *@at. NULL, or what is wrong. */
static const char *part_compile(struct pattern *p, const char **at)
{
	const char *name = *at + 1, *class;
	size_t length = strspn(name, NAME_LETTERS), class_length;
	struct token t = { .type = TOKEN_TEXT };

	if (!length)
		return "a name of letters, digits and _ follows {";
	if (pattern_part(p, name, length) >= 0)
		return "two parts have the same name";
	if (p->nr_parts == PATTERN_PARTS)
		return "it has more than 6 parts in {}";
	*at = name + length;
	if (**at == ':') {
		class = *at + 1;
		class_length = strspn(class, NAME_LETTERS);
		if (!class_find(class, class_length, &t.type))
			return "the class of a part is text, number, hex, hash, uuid, service, "
			       "scope, "
			       "slice or unit";
		*at = class + class_length;
	}
	if (**at != '}')
		return "a part in {} is {NAME} or {NAME:CLASS}";
	++*at;
	t.part = (int)p->nr_parts;
	p->names[p->nr_parts] = (struct piece){ name, length };
	p->types[p->nr_parts++] = t.type;
	return token_add(p, t);
}

/* **SUFFIX, with a suffix without parts, is a whole component. NULL, or what is wrong. */
static const char *any_number_compile(struct pattern *p, const char **at)
{
	size_t length = strcspn(*at + 2, "/*{}");
	struct token t = { TOKEN_ANY_NUMBER, -1, { *at + 2, length } };

	for (size_t i = 0; i < p->nr_tokens; i++)
		if (p->tokens[i].type == TOKEN_ANY_NUMBER)
			return "there is more than one **";
	*at += 2 + length;
	if (!length || **at != '/')
		return "** is followed by the end of a name, as in **.slice, and then by / and "
		       "more";
	return token_add(p, t);
}

/* The tokens of the component from @first on. NULL, or what is wrong. */
static const char *component_check(const struct pattern *p, size_t first)
{
	unsigned texts = 0;

	if (first == p->nr_tokens)
		return "there is nothing between two / or at its end";
	for (size_t i = first; i < p->nr_tokens; i++) {
		enum token_type type = p->tokens[i].type;

		texts += type == TOKEN_TEXT;
		if (is_whole_component(type) && p->nr_tokens - first > 1)
			return "a service, scope, slice or unit stands alone between two /";
		if (i > first && type != TOKEN_LITERAL && p->tokens[i - 1].type != TOKEN_LITERAL)
			return "there is no text between two parts in {} or *";
	}
	return texts > MAX_TEXTS ? "there are more than two * or {NAME} between two /" : NULL;
}

/* The component at *@at, which is behind a /. NULL, or what is wrong. */
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
			wrong = "there is a } without {";
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
		wrong = "it begins with /";
	else if (strlen(text) >= sizeof(p->text))
		wrong = "it is too long";
	while (!wrong && *at == '/') {
		at++;
		wrong = component_compile(p, &at);
	}
	if (!wrong)
		return 0;
	snprintf(why, size, "%s", wrong);
	return -EINVAL;
}
