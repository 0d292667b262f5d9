// SPDX-License-Identifier: BSD-2-Clause
#include "base/json.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void jsonw_done(struct jsonw *j)
{
	free(j->text);
	*j = (struct jsonw){ 0 };
}

int jsonw_print(struct jsonw *j, FILE *f)
{
	int err = j->failed ? -ENOMEM : 0;

	if (!err)
		fwrite(j->text, 1, j->used, f);
	jsonw_done(j);
	return err;
}

void jsonw_reset(struct jsonw *j)
{
	j->used = 0;
	j->needs_comma = j->lossy = j->failed = false;
}

static void jsonw_append(struct jsonw *j, const char *s, size_t n)
{
	if (j->used + n + 1 > j->room) {
		size_t room = (j->used + n + 1) * 2;
		char *text = memory_realloc(j->text, room);

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

static void jsonw_append_text(struct jsonw *j, const char *s)
{
	jsonw_append(j, s, strlen(s));
}

/* Appends a character that is not printable ASCII. Returns how many of the @n bytes it took. */
static size_t jsonw_append_character(struct jsonw *j, const char *text, size_t n)
{
	uint32_t character;
	size_t len = utf8_decode(text, n, &character);
	char code[8];

	if (!len) {
		jsonw_append_text(j, "\xef\xbf\xbd"); /* U+FFFD */
		j->lossy = true;
		return 1;
	}
	if (utf8_is_control(character)) {
		/* control characters are all below 0x10000 */
		snprintf(code, sizeof(code), "\\u%04x", character & 0xffff);
		jsonw_append_text(j, code);
	} else {
		jsonw_append(j, text, len);
	}
	return len;
}

/* Returns true for characters that need no escape: nearly all of them. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void jsonw_append_quoted(struct jsonw *j, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	char code[2];

	jsonw_append(j, "\"", 1);
	for (size_t i = 0, len; i < n; i += len) {
		for (len = 0; i + len < n && is_plain(s[i + len]);)
			len++;
		if (len) {
			jsonw_append(j, text + i, len);
		} else if (s[i] == '"' || s[i] == '\\') {
			len = 1;
			code[0] = '\\', code[1] = (char)s[i];
			jsonw_append(j, code, 2);
		} else {
			len = jsonw_append_character(j, text + i, n - i);
		}
	}
	jsonw_append(j, "\"", 1);
}

/* @key has @n bytes and may be NULL. */
static void jsonw_begin_member(struct jsonw *j, const char *key, size_t n)
{
	if (j->needs_comma)
		jsonw_append(j, ",", 1);
	j->needs_comma = true;
	if (key) {
		jsonw_append_quoted(j, key, n);
		jsonw_append(j, ":", 1);
	}
}

static void jsonw_begin_value(struct jsonw *j, const char *key)
{
	jsonw_begin_member(j, key, key ? strlen(key) : 0);
}

void jsonw_object(struct jsonw *j, const char *key)
{
	jsonw_begin_value(j, key);
	jsonw_append(j, "{", 1);
	j->needs_comma = false;
}

void jsonw_object_end(struct jsonw *j)
{
	jsonw_append(j, "}", 1);
	j->needs_comma = true;
}

void jsonw_array(struct jsonw *j, const char *key)
{
	jsonw_begin_value(j, key);
	jsonw_append(j, "[", 1);
	j->needs_comma = false;
}

void jsonw_array_end(struct jsonw *j)
{
	jsonw_append(j, "]", 1);
	j->needs_comma = true;
}

void jsonw_pairs(struct jsonw *j, const char *key, const char *const *pairs, size_t nr)
{
	jsonw_object(j, key);
	for (size_t i = 0; i < nr; i++) {
		size_t n = strcspn(pairs[i], "=");
		const char *value = pairs[i] + n + 1;

		jsonw_begin_member(j, pairs[i], n);
		jsonw_append_quoted(j, value, strlen(value));
	}
	jsonw_object_end(j);
}

void jsonw_bytes(struct jsonw *j, const char *key, const char *s, size_t n)
{
	jsonw_begin_value(j, key);
	jsonw_append_quoted(j, s, n);
}

void jsonw_string(struct jsonw *j, const char *key, const char *s)
{
	if (s)
		jsonw_bytes(j, key, s, strlen(s));
	else
		jsonw_null(j, key);
}

void jsonw_hex(struct jsonw *j, const char *key, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *text = memory_malloc(2 * n + 1);

	j->failed |= !text;
	for (size_t i = 0; text && i < n; i++) {
		text[2 * i] = digits[((const unsigned char *)bytes)[i] >> 4];
		text[2 * i + 1] = digits[((const unsigned char *)bytes)[i] & 15];
	}
	if (text)
		jsonw_bytes(j, key, text, 2 * n);
	free(text);
}

size_t hex_decode(char *out, const char *text)
{
	unsigned value;
	size_t n = 0;

	while (sscanf(text + 2 * n, "%2x", &value) == 1)
		out[n++] = (char)value;
	return n;
}

void jsonw_uint(struct jsonw *j, const char *key, uint64_t v)
{
	jsonw_decimal(j, key, v, 0);
}

void jsonw_int(struct jsonw *j, const char *key, int64_t v)
{
	char out[1 + DECIMAL_TEXT] = "-";
	const uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;
	size_t n = (size_t)decimal_format(out + 1, size, 0);

	jsonw_begin_value(j, key);
	jsonw_append(j, v < 0 ? out : out + 1, v < 0 ? n + 1 : n);
}

void jsonw_decimal(struct jsonw *j, const char *key, uint64_t v, unsigned decimals)
{
	char out[DECIMAL_TEXT];

	if (!decimals && v > NUMBER_MAX)
		v = NUMBER_MAX;
	jsonw_begin_value(j, key);
	jsonw_append(j, out, (size_t)decimal_format(out, v, decimals));
}

void jsonw_double(struct jsonw *j, const char *key, double v)
{
	char out[DOUBLE_TEXT];

	if (!isfinite(v)) {
		jsonw_null(j, key);
		return;
	}
	jsonw_begin_value(j, key);
	jsonw_append(j, out, (size_t)double_format(out, v));
}

void jsonw_bool(struct jsonw *j, const char *key, bool v)
{
	jsonw_begin_value(j, key);
	jsonw_append_text(j, v ? "true" : "false");
}

void jsonw_null(struct jsonw *j, const char *key)
{
	jsonw_begin_value(j, key);
	jsonw_append_text(j, "null");
}

void jsonw_schema(struct jsonw *j, const char *name)
{
	char text[64];

	snprintf(text, sizeof(text), "bpfmon-%s/1", name);
	jsonw_string(j, "schema", text);
}

void jsonw_raw(struct jsonw *j, const char *text, size_t n)
{
	jsonw_append(j, text, n);
}

void jsonw_newline(struct jsonw *j)
{
	jsonw_append(j, "\n", 1);
	j->needs_comma = false;
}
