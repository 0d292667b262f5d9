// SPDX-License-Identifier: BSD-2-Clause
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void jw_done(struct json *j)
{
	free(j->text);
	*j = (struct json){ 0 };
}

void jw_reset(struct json *j)
{
	j->used = 0;
	j->needs_comma = j->lossy = j->failed = false;
}

static void put(struct json *j, const char *s, size_t n)
{
	if (j->used + n + 1 > j->room) {
		size_t room = (j->used + n + 1) * 2;
		char *text = realloc(j->text, room);

		if (!text) {
			j->failed = true;
			return;
		}
		j->text = text;
		j->room = room;
	}
	memcpy(j->text + j->used, s, n);
	j->used += n;
	j->text[j->used] = '\0';
}

static void puts_(struct json *j, const char *s)
{
	put(j, s, strlen(s));
}

/* Length of the valid UTF-8 sequence at @s, or 0. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	size_t len;
	uint32_t c;

	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2, c = s[0] & 0x1f;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		len = 3, c = s[0] & 0x0f;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4, c = s[0] & 0x07;
	else
		return 0;
	if (n < len)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	/* overlong forms, surrogates, beyond Unicode */
	if ((len == 3 && (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))) ||
	    (len == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	return len;
}

static void escape(struct json *j, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	char code[8];

	put(j, "\"", 1);
	for (size_t i = 0, len; i < n; i += len) {
		len = 1;
		if (s[i] == '"' || s[i] == '\\') {
			code[0] = '\\', code[1] = (char)s[i];
			put(j, code, 2);
		} else if (s[i] < 0x20 || s[i] == 0x7f) {
			snprintf(code, sizeof(code), "\\u%04x", s[i]);
			puts_(j, code);
		} else if (s[i] < 0x80) {
			put(j, text + i, 1);
		} else {
			len = utf8_length(s + i, n - i);
			if (len) {
				put(j, text + i, len);
			} else {
				puts_(j, "\xef\xbf\xbd"); /* U+FFFD */
				j->lossy = true;
				len = 1;
			}
		}
	}
	put(j, "\"", 1);
}

static void start(struct json *j, const char *key)
{
	if (j->needs_comma)
		put(j, ",", 1);
	j->needs_comma = true;
	if (key) {
		escape(j, key, strlen(key));
		put(j, ":", 1);
	}
}

void jw_object(struct json *j, const char *key)
{
	start(j, key);
	put(j, "{", 1);
	j->needs_comma = false;
}

void jw_object_end(struct json *j)
{
	put(j, "}", 1);
	j->needs_comma = true;
}

void jw_array(struct json *j, const char *key)
{
	start(j, key);
	put(j, "[", 1);
	j->needs_comma = false;
}

void jw_array_end(struct json *j)
{
	put(j, "]", 1);
	j->needs_comma = true;
}

void jw_bytes(struct json *j, const char *key, const char *s, size_t n)
{
	start(j, key);
	escape(j, s, n);
}

void jw_string(struct json *j, const char *key, const char *s)
{
	if (s)
		jw_bytes(j, key, s, strlen(s));
	else
		jw_null(j, key);
}

void jw_uint(struct json *j, const char *key, uint64_t v)
{
	jw_decimal(j, key, v, 0);
}

void jw_int(struct json *j, const char *key, int64_t v)
{
	char out[32];

	start(j, key);
	put(j, out, (size_t)snprintf(out, sizeof(out), "%" PRId64, v));
}

int decimal_format(char *out, uint64_t v, unsigned decimals)
{
	uint64_t unit = 1;
	int n;

	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	n = snprintf(out, 32, "%" PRIu64, v / unit);
	if (!decimals || !(v % unit))
		return n;
	n += snprintf(out + n, 32 - n, ".%0*" PRIu64, (int)decimals, v % unit);
	while (out[n - 1] == '0')
		n--;
	out[n] = '\0';
	return n;
}

void jw_decimal(struct json *j, const char *key, uint64_t v, unsigned decimals)
{
	char out[32];

	start(j, key);
	put(j, out, (size_t)decimal_format(out, v, decimals));
}

void jw_real(struct json *j, const char *key, double v)
{
	char out[32];
	int n = 0;

	if (!isfinite(v)) {
		jw_null(j, key);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		n = snprintf(out, sizeof(out), "%.*g", digits, v);
		if (strtod(out, NULL) == v)
			break;
	}
	start(j, key);
	put(j, out, (size_t)n);
}

void jw_bool(struct json *j, const char *key, bool v)
{
	start(j, key);
	puts_(j, v ? "true" : "false");
}

void jw_null(struct json *j, const char *key)
{
	start(j, key);
	puts_(j, "null");
}

void jw_newline(struct json *j)
{
	put(j, "\n", 1);
	j->needs_comma = false;
}
