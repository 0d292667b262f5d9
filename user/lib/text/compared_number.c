// SPDX-License-Identifier: BSD-2-Clause
#include "text/compared_number.h"

#include "base/number.h"
#include "text/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LARGEST_EXACT 9007199254740992.0 /* 2^53: of the whole numbers of a double */
#define LARGEST 1e18                     /* what the formats of whole numbers take, seconds as ns */

double number_as_measured(enum metric_unit unit, double value)
{
	double scale = pow(10, metric_unit_decimals(unit) + 2);

	return fabs(value * scale) < LARGEST_EXACT ? round(value * scale) / scale : value;
}

char *number_format(char *out, enum metric_unit unit, double value)
{
	double size = fabs(value);

	if (size > (unit == UNIT_NS ? LARGEST / 1e9 : LARGEST))
		snprintf(out, NUMBER_BYTES, "%.4g", size);
	else if (unit == UNIT_NS)
		format_seconds(out, number_clamp(size * 1e9));
	else if (unit == UNIT_BYTES)
		format_bytes(out, number_clamp(size));
	else if (unit == UNIT_MILLI)
		snprintf(out, NUMBER_BYTES, "%.3f", size);
	else if (size < 1e15 && size != floor(size)) /* the middle of two */
		snprintf(out, NUMBER_BYTES, "%.2f", size);
	else
		format_count(out, number_clamp(size));
	if (value < 0) {
		memmove(out + 1, out, strlen(out) + 1);
		*out = '-';
	}
	return out;
}

char *number_difference(char *out, enum metric_unit unit, double value)
{
	number_format(out, unit, value);
	if (value > 0) {
		memmove(out + 1, out, strlen(out) + 1);
		*out = '+';
	}
	return out;
}

char *number_relative(char *out, double part)
{
	if (isinf(part))
		snprintf(out, NUMBER_BYTES, part > 0 ? "from 0" : "below 0");
	else if (part == 0)
		snprintf(out, NUMBER_BYTES, "0 %%");
	else if (part < 9.995)
		snprintf(out, NUMBER_BYTES, "%+.1f %%", part * 100);
	else
		snprintf(out, NUMBER_BYTES, "x %.4g", part + 1);
	return out;
}
