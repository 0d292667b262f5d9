/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts that somebody else has made, and that a terminal is to show. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How many bytes the character at @text has, which is not empty; and whether it could steer a
 * terminal, or change the order in which what surrounds it is shown, or is none at all.
 */
size_t text_character(const char *text, bool *is_control);
/* Puts "?" in the place of each such character. */
void text_disarm(char *text);

#endif
