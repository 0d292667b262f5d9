// SPDX-License-Identifier: BSD-2-Clause
#include "export/influx_text.h"

#include <string.h>

/* The number of bytes up to @max that end with a whole character. */
static size_t influx_cut(const char *s, size_t length, size_t max)
{
	if (length <= max)
		return length;
	while (max && ((unsigned char)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}

/* @escaped: the characters that get a backslash before them. */
static void influx_put_name(struct buffer *t, const char *s, size_t length, const char *escaped)
{
	bool is_control;

	for (size_t i = 0, n; i < length; i += n) {
		n = buffer_character_bytes(s + i, length - i, &is_control);
		if (is_control || strchr(escaped, s[i]))
			buffer_puts(t, "\\");
		if (is_control || s[i] == '\\')
			buffer_puts(t, is_control ? " " : "/");
		else
			buffer_put(t, s + i, n);
	}
}

void influx_put_key(struct buffer *t, const char *key)
{
	influx_put_name(t, key, influx_cut(key, strlen(key), INFLUX_KEY_BYTES), ",= ");
}

void influx_put_tag(struct buffer *t, const char *key, const char *value, size_t length)
{
	if (!length || !*key)
		return;
	buffer_put(t, ",", 1);
	influx_put_key(t, key);
	buffer_put(t, "=", 1);
	influx_put_name(t, value, influx_cut(value, length, INFLUX_VALUE_BYTES), ",= ");
}

void influx_put_string(struct buffer *t, const char *s, size_t length)
{
	bool is_control;

	length = influx_cut(s, length, INFLUX_STRING_BYTES);
	buffer_puts(t, "\"");
	for (size_t i = 0, n; i < length; i += n) {
		n = buffer_character_bytes(s + i, length - i, &is_control);
		if (s[i] == '"' || s[i] == '\\')
			buffer_puts(t, "\\");
		buffer_put(t, is_control ? " " : s + i, is_control ? 1 : n);
	}
	buffer_puts(t, "\"");
}

void influx_put_pushed_name(struct buffer *t, const json_t *name)
{
	static const char *const ours[] = { "bpfmon", "bpfmon_process", "bpfmon_event" };
	const char *text = json_string_value(name);
	size_t length = influx_cut(text, json_string_length(name), INFLUX_VALUE_BYTES);
	bool is_taken = !length || *text == '#' || *text == '_';

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		is_taken |= !strcmp(text, ours[i]);
	if (is_taken)
		buffer_puts(t, "pushed_");
	influx_put_name(t, text, length, ", ");
}
