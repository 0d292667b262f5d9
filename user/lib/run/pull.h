/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pull parser for JSON: the caller reads one key or value after the other and no tree is built.
 * It accepts the plain forms that bpfmon writes; the caller parses any other value with jansson. It
 * does not validate what it skips.
 */
#ifndef RUN_PULL_H
#define RUN_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pull {
	const char *at, *end;
	char *to;       /* destination of copied texts, each with a NUL; must have room for all */
	bool has_blank; /* a blank was skipped between keys and values */
};

/* Each of the functions returns false and leaves @p->at unchanged if the text does not match. */
bool pull_take(struct pull *p, const char *text, size_t n);
#define PULL_TAKE(p, text) pull_take(p, text, sizeof(text) - 1)
/*
 * Reads a number without sign and exponent and with at most @decimals digits after the point,
 * scaled by 10^@decimals. Does not match a number above @most.
 */
bool pull_number(struct pull *p, unsigned decimals, uint64_t most, uint64_t *v);
bool pull_int32(struct pull *p, int32_t *v);
/* Reads a string of printable ASCII without escapes; @text is its copy. */
bool pull_text(struct pull *p, const char **text, size_t *length);
/* Reads a key and its colon. @key points into the line; @is_plain means ASCII without escapes. */
bool pull_key(struct pull *p, const char **key, size_t *length, bool *is_plain);
/* Returns true if a value can end here. */
bool pull_is_end_of_value(const struct pull *p);
void pull_blanks(struct pull *p);
/* Skips a value of any kind. Returns false if the line ends within it. */
bool pull_skip(struct pull *p);

#endif
