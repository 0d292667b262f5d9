/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pull reader of JSON: the caller asks for one key or value after the other, and no tree is
 * built. It takes the plain forms that bpfmon writes; what it does not take is left to jansson, by
 * the value. It does not validate what it skips.
 */
#ifndef RUN_PULL_H
#define RUN_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pull {
	const char *at, *end;
	char *to;       /* texts are copied there, each with a NUL: there is room for all of them */
	bool has_blank; /* there was one between keys and values */
};

/* Each returns false and leaves @p->at if the text is another one. */
bool pull_take(struct pull *p, const char *text, size_t n);
#define PULL_TAKE(p, text) pull_take(p, text, sizeof(text) - 1)
/* A number without sign and exponent, times 10^@decimals, of as many digits after the point or
 * fewer, up to @most. */
bool pull_number(struct pull *p, unsigned decimals, uint64_t most, uint64_t *v);
bool pull_int32(struct pull *p, int32_t *v);
/* A string of printable ASCII without escapes; @text: its copy. */
bool pull_text(struct pull *p, const char **text, size_t *length);
/* A key with its colon; @is_plain: it has no escapes, and is @length bytes at @key, in the line. */
bool pull_key(struct pull *p, const char **key, size_t *length, bool *is_plain);
/* Returns true if a value can end here. */
bool pull_is_end_of_value(const struct pull *p);
/* Skips blanks. */
void pull_blanks(struct pull *p);
/* Skips a value of any kind. Returns false if the line ends within it. */
bool pull_skip(struct pull *p);

#endif
