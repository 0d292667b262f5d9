/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as text that every reader of JSON takes; returns are lengths without the NUL. And their
 * range, which is checked where they are read. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#define DECIMAL_TEXT 32
#define DOUBLE_TEXT 64
/* The largest whole number that is read or written: readers of JSON, ours too, take no larger one.
 * What is written with a point, as seconds, has all of a uint64_t. */
#define NUMBER_MAX ((uint64_t)INT64_MAX)

/* Writes @v / 10^@decimals without trailing zeros into @out (DECIMAL_TEXT). */
int decimal_format(char *out, uint64_t v, unsigned decimals);
/* Writes the shortest decimal that reads back as @v, which is finite, into @out (DOUBLE_TEXT); with
 * an exponent if it is huge or tiny, and -0.0 for that. */
int double_format(char *out, double v);
/* Rounds @v to a whole number. False, and *@whole is left: it is none of a uint64_t. */
bool number_whole(double v, uint64_t *whole);
/* The whole number from 0 to NUMBER_MAX that is nearest to @v; 0 where @v is none. For what was
 * computed of numbers in range, so that no cast of it is undefined. */
uint64_t number_nearest(double v);
/* @v * 10^@decimals; false, and *@scaled is left: there is no room for it. */
bool number_scale(uint64_t v, unsigned decimals, uint64_t *scaled);

#endif
