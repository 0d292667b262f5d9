// SPDX-License-Identifier: BSD-2-Clause
#include "view/format.h"

#include <inttypes.h>
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

void format_name(FILE *f, const char *text, size_t width)
{
	size_t n = strlen(text);

	if (n > width) {
		fputs("...", f);
		text += n - width + 3;
		n = width - 3;
	}
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		fputc(c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xa0) ? '?' : c, f);
	}
}
