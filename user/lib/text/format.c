// SPDX-License-Identifier: BSD-2-Clause
#include "text/format.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

char *format_bytes(char *out, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1000 && u + 1 < sizeof(units) / sizeof(*units)) {
		v /= 1024;
		u++;
	}
	snprintf(out, FORMAT_BYTES, u && v < 100 ? "%.1f %s" : "%.0f %s",
		 u && v < 100 ? floor(v * 10 + 0.5) / 10 : floor(v + 0.5), units[u]);
	return out;
}

/* Units of durations below two minutes, which have three digits. */
static const struct {
	const char *name;
	uint64_t ns;
} duration_units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", NSEC_PER_MSEC }, { "s", NSEC_PER_SEC }
};

#define NR_DURATION_UNITS (sizeof(duration_units) / sizeof(*duration_units))

/* @count is in units of @unit / 10^@places. */
struct short_duration {
	size_t unit;
	unsigned places;
	uint64_t count;
};

/* Returns false if @ns needs minutes. */
static bool short_duration_find(struct short_duration *d, uint64_t ns)
{
	static const unsigned powers[] = { 1, 10, 100 };

	if (ns >= 120 * NSEC_PER_SEC - NSEC_PER_SEC / 2)
		return false;
	for (size_t unit = 0; unit < NR_DURATION_UNITS; unit++) {
		for (unsigned places = 3; places-- > 0;) {
			const uint64_t step = duration_units[unit].ns / powers[places];

			if (!step)
				continue;
			*d = (struct short_duration){ unit, places, (ns + step / 2) / step };
			if (d->count < 1000)
				return true;
		}
	}
	return true;
}

static uint64_t duration_round(uint64_t ns, uint64_t seconds)
{
	const uint64_t unit = seconds * NSEC_PER_SEC;

	return ns / unit + (ns % unit >= unit / 2);
}

static char *long_duration_format(char *out, uint64_t ns)
{
	static const struct {
		const char *name, *less;
		uint64_t seconds, parts, most; /* of the lesser unit; its parts; most of those */
	} pairs[] = { { "min", "s", 1, 60, 3600 },
		      { "h", "min", 60, 60, 6000 },
		      { "d", "h", 3600, 24, UINT64_MAX } };
	size_t i = 0;
	uint64_t n;

	for (; (n = duration_round(ns, pairs[i].seconds)) >= pairs[i].most; i++)
		;
	if (n % pairs[i].parts)
		snprintf(out, FORMAT_BYTES, "%" PRIu64 " %s %u %s", n / pairs[i].parts,
			 pairs[i].name, (unsigned)(n % pairs[i].parts), pairs[i].less);
	else
		snprintf(out, FORMAT_BYTES, "%" PRIu64 " %s", n / pairs[i].parts, pairs[i].name);
	return out;
}

static char *short_duration_format(char *out, const struct short_duration *d, bool has_unit)
{
	const double scale = d->places == 2 ? 100 : d->places ? 10 : 1;

	snprintf(out, FORMAT_BYTES, "%.*f%s%s", (int)d->places, (double)d->count / scale,
		 has_unit ? " " : "", has_unit ? duration_units[d->unit].name : "");
	return out;
}

/* seconds() of page/assets/base.js has the same results; both read tests/data/durations. */
char *format_seconds(char *out, uint64_t ns)
{
	struct short_duration d;

	if (!ns)
		snprintf(out, FORMAT_BYTES, "0 s");
	else if (short_duration_find(&d, ns))
		short_duration_format(out, &d, true);
	else
		long_duration_format(out, ns);
	return out;
}

char *format_seconds_of(char *out, uint64_t part_ns, uint64_t whole_ns)
{
	char part[FORMAT_BYTES], whole[FORMAT_BYTES];
	struct short_duration d, all;

	if (part_ns && short_duration_find(&d, part_ns) && short_duration_find(&all, whole_ns) &&
	    d.unit == all.unit)
		short_duration_format(part, &d, false);
	else
		format_seconds(part, part_ns);
	snprintf(out, (size_t)2 * FORMAT_BYTES, "%s of %s", part, format_seconds(whole, whole_ns));
	return out;
}

char *format_count(char *out, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), used = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
	return out;
}

char *format_moment(char *out, uint64_t epoch_ns, bool has_seconds)
{
	time_t at = (time_t)(epoch_ns / NSEC_PER_SEC);
	struct tm tm;

	if (!at || !memory_localtime_r(&at, &tm) ||
	    !strftime(out, MOMENT_BYTES, has_seconds ? "%Y-%m-%d %H:%M:%S %Z" : "%Y-%m-%d %H:%M %Z",
		      &tm))
		snprintf(out, MOMENT_BYTES, "-");
	return out;
}

/* Returns the bytes of the character at @text and stores its terminal columns in *@columns. */
static size_t format_next_character(const char *text, size_t *columns, bool *is_control)
{
	size_t n = text_character_bytes(text, is_control);
	uint32_t c = 0;

	*columns = !*is_control && utf8_decode(text, n, &c) ? character_width(c) : 1;
	return n;
}

static void format_put_character(FILE *f, const char *text, size_t n, bool is_control)
{
	if (is_control)
		fputc('?', f);
	else
		fwrite(text, 1, n, f);
}

size_t format_columns(const char *text)
{
	size_t sum = 0, columns;
	bool is_control;

	for (; *text; text += format_next_character(text, &columns, &is_control), sum += columns)
		;
	return sum;
}

#define DOTS 3 /* columns of the ellipsis */

size_t format_name(FILE *f, const char *text, size_t width)
{
	size_t left = format_columns(text), used = 0, columns, n;
	size_t room = width > DOTS ? width - DOTS : width;
	bool is_control, is_cut = left > width;

	if (is_cut && width > DOTS)
		used = (size_t)fprintf(f, "...");
	for (; *text; text += n) {
		n = format_next_character(text, &columns, &is_control);
		if (!is_cut || left <= room) {
			format_put_character(f, text, n, is_control);
			used += columns;
		}
		left -= columns;
	}
	return used;
}

/* Writes the characters of @text that fit into @width columns. */
static size_t format_put_fitting(FILE *f, const char *text, size_t width)
{
	size_t used = 0, columns, n;
	bool is_control;

	for (; *text; text += n, used += columns) {
		n = format_next_character(text, &columns, &is_control);
		if (used + columns > width)
			break;
		format_put_character(f, text, n, is_control);
	}
	return used;
}

size_t format_beginning(FILE *f, const char *text, size_t width)
{
	bool is_marked = format_columns(text) > width && width > DOTS;
	size_t used = format_put_fitting(f, text, is_marked ? width - DOTS : width);

	return is_marked ? used + (size_t)fprintf(f, "...") : used;
}

size_t format_middle(FILE *f, const char *text, size_t width)
{
	size_t used = 0;

	if (format_columns(text) > width && width > DOTS)
		used = format_put_fitting(f, text, (width - DOTS) / 2);
	return used + format_name(f, text, width - used);
}

void format_padded_left(FILE *f, const char *text, size_t width)
{
	for (size_t n = format_columns(text); n < width; n++)
		fputc(' ', f);
	format_name(f, text, width);
}

void format_padded(FILE *f, const char *text, size_t width)
{
	for (size_t n = format_name(f, text, width); n < width; n++)
		fputc(' ', f);
}

/*
 * Returns the length of the line at @text: up to the last blank within @width, else up to @width
 * columns.
 */
static size_t format_line_length(const char *text, size_t width)
{
	size_t used = 0, at = 0, blank = 0, columns;
	bool is_control;

	for (; text[at] && text[at] != '\n'; used += columns) {
		size_t n = format_next_character(text + at, &columns, &is_control);

		if (strchr(STYLED_MARKS, text[at]))
			columns = 0;
		if (used + columns > width)
			return text[at] == ' ' ? at : blank ? blank : at ? at : n;
		if (text[at] == ' ' && strspn(text, " ") < at)
			blank = at;
		at += n;
	}
	return at;
}

void format_folded(FILE *f, const char *text, size_t width, size_t indent)
{
	size_t room = width > indent * 2 ? width - indent : width;
	bool is_rest = false;

	while (*text) {
		size_t n = format_line_length(text, is_rest ? room : width);

		if (is_rest)
			fprintf(f, "%*s", (int)(width - room), "");
		fwrite(text, 1, n, f);
		fputc('\n', f);
		text += n;
		is_rest = *text && *text != '\n';
		text += is_rest ? strspn(text, " ") : *text == '\n';
	}
}

void format_drop_styles(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (!strchr(STYLED_MARKS, *text))
			*to++ = *text;
	*to = '\0';
}

int format_folded_buffer(FILE *f, struct buffer *t, size_t width, size_t indent)
{
	int err;

	buffer_put(t, "", 1);
	err = t->failed ? -ENOMEM : 0;
	if (!err)
		format_folded(f, t->text, width, indent);
	buffer_done(t);
	return err;
}

#define LARGEST_EXACT 9007199254740992.0 /* 2^53, the largest exact integer of a double */
#define LARGEST 1e18                     /* limit of the integer formats; of seconds in ns */

/* With three digits: 0.31 J, 812 J, 3.62 kJ, 12.1 MJ. */
static char *si_format(char *out, double value, const char *unit)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T" };
	size_t i = 0;

	for (; value >= 999.5 && i + 1 < sizeof(prefixes) / sizeof(*prefixes); i++)
		value /= 1000;
	snprintf(out, FORMAT_BYTES, "%.*f %s%s",
		 value < 9.995   ? 2
		 : value < 99.95 ? 1
				 : 0,
		 value, prefixes[i], unit);
	return out;
}

char *format_value(char *out, enum metric_unit unit, uint64_t value)
{
	switch (unit) {
	case UNIT_BYTES:
		return format_bytes(out, value);
	case UNIT_NS:
		return format_seconds(out, value);
	case UNIT_MILLI:
		snprintf(out, FORMAT_BYTES, "%.3f", (double)value / 1000);
		return out;
	case UNIT_MICROJOULE:
		return si_format(out, (double)value / 1e6, metric_unit_name(unit));
	case UNIT_MILLIWATT:
		return si_format(out, (double)value / 1e3, metric_unit_name(unit));
	case UNIT_HERTZ:
		return si_format(out, (double)value, metric_unit_name(unit));
	default:
		return format_count(out, value);
	}
}

double number_drop_noise(enum metric_unit unit, double value)
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
	else if (unit == UNIT_MICROJOULE || unit == UNIT_MILLIWATT || unit == UNIT_HERTZ)
		si_format(out, size, metric_unit_name(unit));
	else if (size < 1e15 && size != floor(size)) /* such as the middle of two counts */
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
