/* SPDX-License-Identifier: BSD-2-Clause */
/* Untrusted text: UTF-8, widths of characters, output to terminals and XML. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Returns true if the @length bytes at @text, which may include NUL, are @known. */
static inline bool text_is(const char *text, size_t length, const char *known)
{
	/* the first byte differs most often */
	return (!length || *known == *text) && strlen(known) == length &&
	       !memcmp(known, text, length);
}

/*
 * Returns the length of the character at @text, which is not empty. Sets @is_control for characters
 * that control a terminal or reorder text, and for invalid UTF-8 (length 1).
 */
size_t text_character_bytes(const char *text, bool *is_control);
/* Replaces these characters by "?". */
void text_disarm(char *text);
/*
 * Returns true if @text contains @part, ignoring the case of Latin, Greek and Cyrillic letters.
 * Invalid bytes match only themselves.
 */
bool text_contains(const char *text, const char *part);
/* Returns the length of the longest prefix of @text with whole characters and up to @most bytes. */
size_t text_cut_bytes(const char *text, size_t most);

#define UTF8_BYTES 4 /* longest character */

/*
 * Decodes the character at @s, of which @n bytes (one or more) are left. Returns its length, or 0
 * if it is no valid UTF-8 (overlong forms, surrogates and values beyond Unicode included).
 */
size_t utf8_decode(const char *s, size_t n, uint32_t *character);

/* Returns true for characters that control a terminal or reorder the text around them. */
bool utf8_is_control(uint32_t character);

/*
 * Writes up to @max characters of @text for XML content or attributes in double quotes, and an
 * ellipsis for the rest. Characters that XML forbids, that are invisible, reorder text or break the
 * line are written as numbers. Returns the width in characters.
 */
size_t xml_write(FILE *f, const char *text, size_t max);

/*
 * Returns the number of terminal columns of a character: 2 for East Asian characters and most
 * emoji, 0 for combining ones, else 1.
 */
size_t character_width(uint32_t character);

#endif
