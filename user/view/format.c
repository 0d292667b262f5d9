// SPDX-License-Identifier: BSD-2-Clause
#include "view/format.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

char *format_bytes(char *out, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1000 && u + 1 < sizeof(units) / sizeof(*units)) {
		v /= 1024;
		u++;
	}
	snprintf(out, FORMAT_BYTES, u && v < 100 ? "%.1f %s" : "%.0f %s", v, units[u]);
	return out;
}

char *format_seconds(char *out, uint64_t ns)
{
	double s = (double)ns / 1e9;

	if (s < 0.1)
		snprintf(out, FORMAT_BYTES, "%.2f ms", s * 1e3);
	else if (s < 100)
		snprintf(out, FORMAT_BYTES, "%.3f s", s);
	else
		snprintf(out, FORMAT_BYTES, "%.1f s", s);
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

size_t format_name(FILE *f, const char *text, size_t width)
{
	size_t columns = 0, skip;
	bool is_control;

	for (const char *c = text; *c; c += text_character(c, &is_control))
		columns++;
	skip = columns > width ? columns - width + 3 : 0;
	if (skip)
		fputs("...", f);
	for (size_t n; *text; text += n) {
		n = text_character(text, &is_control);
		if (skip) {
			skip--;
			continue;
		}
		if (is_control)
			fputc('?', f);
		else
			fwrite(text, 1, n, f);
	}
	return columns > width ? width : columns;
}

void format_beginning(FILE *f, const char *text, size_t width)
{
	char *cut = strdup(text);
	size_t columns = 0, end;

	if (!cut)
		return;
	for (end = 0; cut[end] && columns < width; columns++)
		for (end++; (cut[end] & 0xc0) == 0x80;)
			end++;
	cut[end] = '\0';
	format_name(f, cut, width);
	free(cut);
}
