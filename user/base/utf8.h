/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of unknown origin, character by character. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_BYTES 4 /* of the longest character */

/*
 * The length of the character at @s, of whose bytes @n are left (at least one), and the character;
 * 0: it is not valid UTF-8 (overlong forms, surrogates and what is beyond Unicode included).
 */
size_t utf8_decode(const char *s, size_t n, uint32_t *character);

/* Could it steer a terminal, or change the order in which what surrounds it is shown? */
bool utf8_steers(uint32_t character);

#endif
