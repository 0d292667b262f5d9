/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Patterns of cgroup paths: literal text, * for one or more characters, {NAME} for the same with a
 * name, {NAME:CLASS} for characters of a class, and the component **.slice for any number of
 * slices. A pattern begins at the root of the hierarchy and matches a path whose first components
 * match it.
 */
#ifndef AGENT_PATTERN_H
#define AGENT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_BYTES 200
#define PATTERN_TOKENS 32
#define PATTERN_PARTS 6    /* named parts */
#define PATH_COMPONENTS 32 /* further components of a path are ignored */

/* A piece of a pattern, or the text that it matched. */
struct piece {
	const char *text; /* not NUL-terminated */
	size_t length;
};

enum token_type {
	TOKEN_LITERAL,
	TOKEN_END,        /* end of a component */
	TOKEN_ANY_NUMBER, /* component **SUFFIX, with the suffix in @literal */
	TOKEN_TEXT,
	TOKEN_NUMBER,
	TOKEN_HEX,
	TOKEN_HASH,
	TOKEN_UUID,
	TOKEN_SERVICE,
	TOKEN_SCOPE,
	TOKEN_SLICE,
	TOKEN_UNIT,
};

struct token {
	enum token_type type;
	int part; /* -1 if unnamed */
	struct piece literal;
};

struct pattern {
	char text[PATTERN_BYTES]; /* literals and names point into it */
	struct token tokens[PATTERN_TOKENS];
	size_t nr_tokens;
	struct piece names[PATTERN_PARTS];
	enum token_type types[PATTERN_PARTS];
	size_t nr_parts;
};

struct path {
	struct piece components[PATH_COMPONENTS];
	size_t nr;
};

/*
 * Compiles @text into @p, which must not be moved. Returns 0, or -EINVAL with the reason in @why.
 */
int pattern_compile(struct pattern *p, const char *text, char *why, size_t size);
/* Returns the index of the part @name; -1 if there is none. */
int pattern_part(const struct pattern *p, const char *name, size_t length);

/* Splits @text into components that point into it. */
void path_split(struct path *path, const char *text);
/*
 * Matches @p against @path from component @from on. Returns the number of components matched, with
 * the matched text in @parts; 0 if @p does not match.
 */
size_t pattern_match(const struct pattern *p, const struct path *path, size_t from,
		     struct piece parts[PATTERN_PARTS]);

#endif
