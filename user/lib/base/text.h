/* SPDX-License-Identifier: BSD-2-Clause */
/* Untrusted text: UTF-8, the width of characters, and writing it to terminals and XML. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Returns true if the @length bytes at @text, of which any may be 0, are @known. */
static inline bool text_is(const char *text, size_t length, const char *known)
{
	/* first what most texts of a table differ in */
	return (!length || *known == *text) && strlen(known) == length &&
	       !memcmp(known, text, length);
}

/*
 * The length of the character at @text, which is not empty. @is_control: it could steer a terminal,
 * or change the order in which the text around it is shown, or is not valid UTF-8 (one byte then).
 */
size_t text_character_bytes(const char *text, bool *is_control);
/* Replaces each such character by "?". */
void text_disarm(char *text);
/*
 * Whether @part is somewhere in @text, where small and capital letters are the same: those of
 * Latin, Greek and Cyrillic. Bytes that are not UTF-8 are only equal to themselves.
 */
bool text_holds(const char *text, const char *part);
/* The length of the beginning of @text that has whole characters only, and @most bytes or fewer. */
size_t text_cut_bytes(const char *text, size_t most);

#define UTF8_BYTES 4 /* the longest character */

/*
 * The length of the character at @s, where @n bytes are left (one or more), and the character; 0:
 * not valid UTF-8 (overlong forms, surrogates and what is beyond Unicode included).
 */
size_t utf8_decode(const char *s, size_t n, uint32_t *character);

/* Whether it could steer a terminal, or change the order in which the text around it is shown. */
bool utf8_steers(uint32_t character);

/* Untrusted text as text of an XML document. */

/*
 * Writes up to @max characters of @text, and an ellipsis for the rest. Characters that XML forbids,
 * that are invisible, reorder text or break the line are written as their number. For content and
 * for attributes in double quotes. Returns the width in characters.
 */
size_t xml_write(FILE *f, const char *text, size_t max);

/* Return the number of terminal columns of a character: 2 for East Asian characters and most emoji,
 * 0 for those drawn over the one before, else 1. */
size_t character_width(uint32_t character);

#endif
