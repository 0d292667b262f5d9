// SPDX-License-Identifier: BSD-2-Clause
#include "agent/rule_text.h"

#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

#define HASH_DIGITS 64
#define SHORT_DIGITS 12

void rule_text_put(struct rule_text *t, const char *s, size_t n)
{
	if (t->is_cut || n >= t->room - t->used) {
		t->is_cut = true;
		return;
	}
	memcpy(t->text + t->used, s, n);
	t->used += n;
	t->text[t->used] = '\0';
}

void rule_text_put_part(struct rule_text *t, const char *s, size_t n, bool is_uuid)
{
	char escaped[5];
	bool is_control;

	for (size_t i = 0, length; i < n; i += length) {
		length = buffer_character_bytes(s + i, n - i, &is_control);
		if (is_uuid && s[i] == '_') {
			rule_text_put(t, "-", 1);
			continue;
		}
		for (size_t k = 0; is_control && k < length; k++) {
			snprintf(escaped, sizeof(escaped), "\\x%02x", (unsigned char)s[i + k]);
			rule_text_put(t, escaped, 4);
		}
		if (!is_control)
			rule_text_put(t, s + i, length);
	}
}

static int digit_value(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The printable character that \xHH at @s stands for; 0: it is no such text. */
static char escape_value(const char *s)
{
	int high, low, c;

	if (s[0] != '\\' || s[1] != 'x')
		return 0;
	high = digit_value(s[2]);
	low = high < 0 ? -1 : digit_value(s[3]);
	c = low < 0 ? 0 : high * 16 + low;
	return c >= ' ' && c <= '~' ? (char)c : 0;
}

void rule_text_name(char *out, size_t room, const char *id)
{
	struct rule_text t = { out, room, 0, false };
	size_t n = strlen(id);
	bool is_control;

	*out = '\0';
	if (n == HASH_DIGITS && strspn(id, "0123456789abcdef") == n)
		n = SHORT_DIGITS;
	for (size_t i = 0, length; i < n; i += length) {
		char c = escape_value(id + i);

		length = c ? 4 : buffer_character_bytes(id + i, n - i, &is_control);
		rule_text_put(&t, c ? &c : id + i, c ? 1 : length);
	}
}
