/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as text that every reader of JSON takes; returns are lengths without the NUL. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdint.h>

#define DECIMAL_TEXT 32
#define DOUBLE_TEXT 64

/* Writes @v / 10^@decimals without trailing zeros into @out (DECIMAL_TEXT). */
int decimal_format(char *out, uint64_t v, unsigned decimals);
/* Writes the shortest decimal that reads back as @v, which is finite, into @out (DOUBLE_TEXT); with
 * an exponent if it is huge or tiny, and -0.0 for that. */
int double_format(char *out, double v);

#endif
