/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as text that every JSON reader accepts (functions return the length without the NUL), and
 * range checks.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#define DECIMAL_TEXT 32
#define DOUBLE_TEXT 64
/*
 * Largest whole number that is read or written: JSON readers, bpfmon's too, accept no larger one.
 * Numbers with a decimal point, as seconds, have the full range of uint64_t.
 */
#define NUMBER_MAX ((uint64_t)INT64_MAX)

/* Writes @v / 10^@decimals without trailing zeros into @out (DECIMAL_TEXT). */
int decimal_format(char *out, uint64_t v, unsigned decimals);
/*
 * Writes the shortest decimal that reads back as the finite @v into @out (DOUBLE_TEXT), with an
 * exponent if it is very large or small. Minus zero is -0.0.
 */
int double_format(char *out, double v);
/* Rounds @v. Returns false and leaves *@whole unchanged if it exceeds the range of uint64_t. */
bool number_round(double v, uint64_t *whole);
/*
 * Returns the whole number from 0 to NUMBER_MAX nearest to @v; 0 for NaN. Avoids undefined casts of
 * results of arithmetic.
 */
uint64_t number_clamp(double v);
/* Multiplies @v by 10^@decimals. Returns false and leaves *@scaled unchanged on overflow. */
bool number_scale(uint64_t v, unsigned decimals, uint64_t *scaled);

#endif
