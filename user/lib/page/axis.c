// SPDX-License-Identifier: BSD-2-Clause
#include "page/axis.h"

#include "base/number.h"
#include "text/format.h"

#include <math.h>
#include <string.h>

#define MINUTE 60
#define HOUR 3600
#define TICK_WIDTH 58 /* for the time at a tick */
#define TICK_HEIGHT 24

static bool unit_is_bytes(enum chart_unit unit)
{
	return unit == CHART_BYTES || unit == CHART_BYTE_RATE;
}

double axis_step(enum chart_unit unit, double span, unsigned max)
{
	double step, least = span / max;

	if (unit_is_bytes(unit))
		return fmax(1, exp2(ceil(log2(least))));
	step = pow(10, floor(log10(least)));
	if (step < least)
		step = step * 2 >= least ? step * 2 : step * 5 >= least ? step * 5 : step * 10;
	if (unit == CHART_COUNT)
		step = fmax(step, 1);
	return step;
}

double axis_time_step(double span, unsigned max)
{
	static const double steps[] = { 1,   2,   5,    10,   15,   30,    60,    120,   300,
					600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400 };
	double least = span / max;

	if (least <= 0.5)
		return axis_step(CHART_CORES, span, max);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i] >= least)
			return steps[i];
	return ceil(least / 86400) * 86400;
}

/* 64.0 MiB -> 64 MiB */
static void axis_drop_zeros(char *text)
{
	char *unit = strchr(text, ' '), *end;

	if (!unit || !memchr(text, '.', (size_t)(unit - text)))
		return;
	for (end = unit; end[-1] == '0'; end--)
		;
	if (end[-1] == '.')
		end--;
	memmove(end, unit, strlen(unit) + 1);
}

char *axis_format_value(char out[AXIS_TEXT], enum chart_unit unit, double value)
{
	if (unit_is_bytes(unit)) {
		format_bytes(out, number_clamp(floor(value)));
		axis_drop_zeros(out);
	} else if (unit == CHART_SHARE) {
		snprintf(out, AXIS_TEXT, "%.3g %%", value * 100);
	} else if (value >= 10) {
		format_count(out, number_clamp(value));
	} else {
		snprintf(out, AXIS_TEXT, "%.3g", value);
	}
	if (unit == CHART_BYTE_RATE || unit == CHART_COUNT_RATE)
		strncat(out, "/s", AXIS_TEXT - strlen(out) - 1);
	return out;
}

char *axis_format_time(char out[AXIS_TEXT], double seconds, double step, double wall)
{
	int places = step >= 1 ? 0 : (int)fmin(6, ceil(-log10(step) - 1e-9));
	unsigned long s;

	seconds = round(seconds * pow(10, places)) / pow(10, places); /* no 0:60 */
	s = number_clamp(floor(seconds));

	if (wall < MINUTE)
		snprintf(out, AXIS_TEXT, "%.*f", places, seconds);
	else if (wall < HOUR)
		snprintf(out, AXIS_TEXT, "%lu:%0*.*f", s / MINUTE, places ? 3 + places : 2, places,
			 fmod(seconds, MINUTE));
	else
		snprintf(out, AXIS_TEXT, "%lu:%02lu:%02lu", s / HOUR, s / MINUTE % MINUTE,
			 s % MINUTE);
	return out;
}

/* The unit of what axis_format_time() writes: "s", "min:s", "h:min:s". */
static const char *axis_time_unit(double wall)
{
	return wall < MINUTE ? "s" : wall < HOUR ? "min:s" : "h:min:s";
}

void axis_draw_values(FILE *f, const struct plot *b, enum chart_unit unit, double top)
{
	double step = axis_step(unit, top, (unsigned)fmax(2, fmin(5, b->height / TICK_HEIGHT)));
	char text[AXIS_TEXT];

	for (unsigned i = 0; i * step <= top * (1 + 1e-9); i++) {
		double v = i * step, y = b->bottom - v / top * b->height;

		fprintf(f,
			"<path d=\"M%d %.1fh%.0f\" stroke=\"%s\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			PLOT_LEFT, y, b->width, v > 0 ? "#e4e8eb" : "#5a6670", PLOT_LEFT - 6,
			y + 3.5, axis_format_value(text, unit, v));
	}
}

void axis_draw_time(FILE *f, const struct plot *b, double wall)
{
	double step = axis_time_step(wall, (unsigned)fmax(2, fmin(7, b->width / TICK_WIDTH)));
	char text[AXIS_TEXT];

	for (unsigned i = 0; i * step <= wall * (1 + 1e-9); i++) {
		double t = i * step, x = PLOT_LEFT + t / wall * b->width;

		fprintf(f,
			"<path d=\"M%.1f %.0fv4\" stroke=\"#5a6670\"/>"
			"<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
			x, b->bottom, x, b->bottom + 16, axis_format_time(text, t, step, wall));
	}
	fprintf(f,
		"<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">time since the start "
		"[%s]</text>\n",
		PLOT_LEFT + b->width / 2, b->bottom + 31, axis_time_unit(wall));
}
