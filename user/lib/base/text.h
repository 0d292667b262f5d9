/* SPDX-License-Identifier: BSD-2-Clause */
/* Untrusted text that is to be shown on a terminal. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The length of the character at @text, which is not empty. @is_control: it could steer a terminal,
 * or change the order in which the text around it is shown, or is not valid UTF-8 (one byte then).
 */
size_t text_character_bytes(const char *text, bool *is_control);
/*
 * Whether @part is somewhere in @text, where small and capital letters are the same: those of
 * Latin, Greek and Cyrillic. Bytes that are not UTF-8 are only equal to themselves.
 */
bool text_holds(const char *text, const char *part);
/* The length of the beginning of @text that has whole characters only, and @most bytes or fewer. */
size_t text_cut_bytes(const char *text, size_t most);
/* Replaces each such character by "?". */
void text_disarm(char *text);

#endif
