/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Patterns of cgroup paths: literal text, * for one or more characters, {NAME} for such that have a
 * name, {NAME:CLASS} for those of a class, and components **.slice for any number of slices. A
 * pattern begins at the root of the hierarchy and fits a path whose first components fit it.
 */
#ifndef AGENT_PATTERN_H
#define AGENT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_BYTES 200
#define PATTERN_TOKENS 32
#define PATTERN_PARTS 6    /* with a name */
#define PATH_COMPONENTS 32 /* of a longer path only these are looked at */

/* A piece of a pattern, or what it stands for. */
struct piece {
	const char *text; /* no NUL at its end */
	size_t length;
};

enum token_type {
	TOKEN_LITERAL,
	TOKEN_END,        /* of a component */
	TOKEN_ANY_NUMBER, /* a component **SUFFIX, whose suffix is the token's text */
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
	int part; /* -1: it has no name */
	struct piece literal;
};

struct pattern {
	char text[PATTERN_BYTES]; /* literals and names are parts of it */
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

/* Compiles @text into @p, which must not be moved. 0; -EINVAL, and @why says what is wrong. */
int pattern_compile(struct pattern *p, const char *text, char *why, size_t size);
/* The number of the part that is called so; -1: there is none. */
int pattern_part(const struct pattern *p, const char *name, size_t length);

/* Splits @text, which @path then points into. */
void path_split(struct path *path, const char *text);
/*
 * Whether @p fits @path from component @from on. Returns the number of components that it stands
 * for, and its @parts; 0: it does not fit.
 */
size_t pattern_match(const struct pattern *p, const struct path *path, size_t from,
		     struct piece parts[PATTERN_PARTS]);

#endif
