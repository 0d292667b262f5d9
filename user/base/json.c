// SPDX-License-Identifier: BSD-2-Clause
#include "base/json.h"

#include "base/number.h"
#include "base/utf8.h"

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

static void jw_append(struct json *j, const char *s, size_t n)
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

static void jw_append_text(struct json *j, const char *s)
{
	jw_append(j, s, strlen(s));
}

/* Appends a character that is not printable ASCII; returns how many of the @n bytes it took. */
static size_t jw_append_character(struct json *j, const char *text, size_t n)
{
	uint32_t character;
	size_t len = utf8_decode(text, n, &character);
	char code[8];

	if (!len) {
		jw_append_text(j, "\xef\xbf\xbd"); /* U+FFFD */
		j->lossy = true;
		return 1;
	}
	if (utf8_steers(character)) {
		/* those that steer a terminal are all below 0x10000 */
		snprintf(code, sizeof(code), "\\u%04x", character & 0xffff);
		jw_append_text(j, code);
	} else {
		jw_append(j, text, len);
	}
	return len;
}

static void jw_append_quoted(struct json *j, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	char code[2];

	jw_append(j, "\"", 1);
	for (size_t i = 0, len; i < n; i += len) {
		len = 1;
		if (s[i] == '"' || s[i] == '\\') {
			code[0] = '\\', code[1] = (char)s[i];
			jw_append(j, code, 2);
		} else if (s[i] < 0x80 && !utf8_steers(s[i])) {
			jw_append(j, text + i, 1);
		} else {
			len = jw_append_character(j, text + i, n - i);
		}
	}
	jw_append(j, "\"", 1);
}

static void jw_begin_value(struct json *j, const char *key)
{
	if (j->needs_comma)
		jw_append(j, ",", 1);
	j->needs_comma = true;
	if (key) {
		jw_append_quoted(j, key, strlen(key));
		jw_append(j, ":", 1);
	}
}

void jw_object(struct json *j, const char *key)
{
	jw_begin_value(j, key);
	jw_append(j, "{", 1);
	j->needs_comma = false;
}

void jw_object_end(struct json *j)
{
	jw_append(j, "}", 1);
	j->needs_comma = true;
}

void jw_array(struct json *j, const char *key)
{
	jw_begin_value(j, key);
	jw_append(j, "[", 1);
	j->needs_comma = false;
}

void jw_array_end(struct json *j)
{
	jw_append(j, "]", 1);
	j->needs_comma = true;
}

void jw_bytes(struct json *j, const char *key, const char *s, size_t n)
{
	jw_begin_value(j, key);
	jw_append_quoted(j, s, n);
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

	jw_begin_value(j, key);
	jw_append(j, out, (size_t)snprintf(out, sizeof(out), "%" PRId64, v));
}

void jw_decimal(struct json *j, const char *key, uint64_t v, unsigned decimals)
{
	char out[DECIMAL_TEXT];

	if (!decimals && v > NUMBER_MAX)
		v = NUMBER_MAX;
	jw_begin_value(j, key);
	jw_append(j, out, (size_t)decimal_format(out, v, decimals));
}

void jw_double(struct json *j, const char *key, double v)
{
	char out[DOUBLE_TEXT];

	if (!isfinite(v)) {
		jw_null(j, key);
		return;
	}
	jw_begin_value(j, key);
	jw_append(j, out, (size_t)double_format(out, v));
}

void jw_bool(struct json *j, const char *key, bool v)
{
	jw_begin_value(j, key);
	jw_append_text(j, v ? "true" : "false");
}

void jw_null(struct json *j, const char *key)
{
	jw_begin_value(j, key);
	jw_append_text(j, "null");
}

void jw_newline(struct json *j)
{
	jw_append(j, "\n", 1);
	j->needs_comma = false;
}
