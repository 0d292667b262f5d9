/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes untrusted text, character by character. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_BYTES 4 /* the longest character */

/*
 * The length of the character at @s, where @n bytes are left (one or more), and the character; 0:
 * not valid UTF-8 (overlong forms, surrogates and what is beyond Unicode included).
 */
size_t utf8_decode(const char *s, size_t n, uint32_t *character);

/* Whether it could steer a terminal, or change the order in which the text around it is shown. */
bool utf8_steers(uint32_t character);

#endif
