// SPDX-License-Identifier: BSD-2-Clause
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WITHOUT_EXPONENT_FROM 1e-9
#define WITHOUT_EXPONENT_TO 1e15 /* readers would parse more digits as an integer and overflow */
#define BEYOND_UINT64 18446744073709551616.0 /* UINT64_MAX is not representable as a double */
#define BEYOND_MAX 9223372036854775808.0

/* Writes @v with leading zeros up to @width digits. Returns the number of digits. */
static int digits_format(char *out, uint64_t v, int width)
{
	char reversed[DECIMAL_TEXT];
	int n = 0;

	do {
		reversed[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v || n < width);
	for (int i = 0; i < n; i++)
		out[i] = reversed[n - 1 - i];
	return n;
}

/* snprintf() would take most of the time of writing a line. */
int decimal_format(char *out, uint64_t v, unsigned decimals)
{
	uint64_t unit = 1;
	int n;

	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	n = digits_format(out, v / unit, 1);
	if (decimals && v % unit) {
		out[n++] = '.';
		n += digits_format(out + n, v % unit, (int)decimals);
		while (out[n - 1] == '0')
			n--;
	}
	out[n] = '\0';
	return n;
}

static bool double_wants_exponent(double v)
{
	return v != 0 && (fabs(v) < WITHOUT_EXPONENT_FROM || fabs(v) >= WITHOUT_EXPONENT_TO);
}

/*
 * Writes @v into @out as d.ddde+dd with the least number of digits that reads back as @v; returns
 * that number.
 */
static int double_shortest(char *out, double v)
{
	for (int digits = 15;; digits++) {
		snprintf(out, DOUBLE_TEXT, "%.*e", digits - 1, v);
		if (digits == 17 || strtod(out, NULL) == v)
			return digits;
	}
}

int double_format(char *out, double v)
{
	int digits = double_shortest(out, v), decimals, n;

	if (v == 0 && signbit(v)) /* readers parse -0 as an integer, which has only one zero */
		return snprintf(out, DOUBLE_TEXT, "-0.0");
	if (double_wants_exponent(v))
		return snprintf(out, DOUBLE_TEXT, "%.*g", digits, v);
	decimals = digits - 1 - (int)strtol(strchr(out, 'e') + 1, NULL, 10);
	n = snprintf(out, DOUBLE_TEXT, "%.*f", decimals > 0 ? decimals : 0, v);
	while (decimals > 0 && out[n - 1] == '0')
		n--;
	n -= out[n - 1] == '.';
	out[n] = '\0';
	return n;
}

bool number_round(double v, uint64_t *whole)
{
	v = round(v);
	if (!(v >= 0 && v <= BEYOND_UINT64)) /* also true for NaN */
		return false;
	/* the double 2^64 stands for UINT64_MAX */
	*whole = v < BEYOND_UINT64 ? (uint64_t)v : UINT64_MAX;
	return true;
}

uint64_t number_clamp(double v)
{
	uint64_t whole = 0;

	if (v >= BEYOND_MAX)
		return NUMBER_MAX;
	number_round(v, &whole);
	return whole;
}

bool number_scale(uint64_t v, unsigned decimals, uint64_t *scaled)
{
	for (; decimals; decimals--)
		if (__builtin_mul_overflow(v, 10, &v))
			return false;
	*scaled = v;
	return true;
}
