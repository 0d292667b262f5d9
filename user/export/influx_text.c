// SPDX-License-Identifier: BSD-2-Clause
#include "export/influx_text.h"

#include "model/metric.h"

#include <string.h>

/* At most @max bytes, and no part of a character. */
static size_t cut(const char *s, size_t length, size_t max)
{
	if (length <= max)
		return length;
	while (max && ((unsigned char)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}

/* @escaped: what gets a backslash before it. */
static void put_name(struct buffer *t, const char *s, size_t length, const char *escaped)
{
	bool is_control;

	for (size_t i = 0, n; i < length; i += n) {
		n = buffer_character(s + i, length - i, &is_control);
		if (is_control || strchr(escaped, s[i]))
			buffer_puts(t, "\\");
		if (is_control || s[i] == '\\')
			buffer_puts(t, is_control ? " " : "/");
		else
			buffer_put(t, s + i, n);
	}
}

void influx_key(struct buffer *t, const char *key)
{
	put_name(t, key, cut(key, strlen(key), INFLUX_KEY_BYTES), ",= ");
}

void influx_tag(struct buffer *t, const char *key, const char *value, size_t length)
{
	if (!length || !*key)
		return;
	buffer_put(t, ",", 1);
	influx_key(t, key);
	buffer_put(t, "=", 1);
	put_name(t, value, cut(value, length, INFLUX_VALUE_BYTES), ",= ");
}

void influx_string(struct buffer *t, const char *s, size_t length)
{
	bool is_control;

	length = cut(s, length, INFLUX_STRING_BYTES);
	buffer_puts(t, "\"");
	for (size_t i = 0, n; i < length; i += n) {
		n = buffer_character(s + i, length - i, &is_control);
		if (s[i] == '"' || s[i] == '\\')
			buffer_puts(t, "\\");
		buffer_put(t, is_control ? " " : s + i, is_control ? 1 : n);
	}
	buffer_puts(t, "\"");
}

static const char *const own_tags[] = { "run", "name", "host", "user", "job" };

/* Whether a tag of that name would be taken for something else: every other tag and field of ours.
 */
static bool is_taken(const char *key)
{
	/* clang-format off */
	static const char *const others[] = {
		"time", "elapsed_seconds", "event", "comm", "exe", "pid", "ppid", "uid", "start_time",
		"alive", "exit_code", "signal", "threads_total", "execs", "rss_peak_bytes",
		"rss_peak_exact", "text", "count", "reason", "cgroup", "is_command", "limit_bytes",
	};
	/* clang-format on */
	enum metric_id id;

	for (size_t i = 0; i < sizeof(own_tags) / sizeof(*own_tags); i++)
		if (!strcmp(key, own_tags[i]))
			return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(key, others[i]))
			return true;
	return *key == '_' || !strncmp(key, "tag_", 4) || !metric_find(key, strlen(key), &id);
}

/* Two keys may be the same when they have been cut and changed: a point takes each once. */
static bool is_there(const struct buffer *t, const char *key, size_t length)
{
	const char *at = t->text, *end = t->text + t->used;

	while (at && (size_t)(end - at) > length &&
	       (at = memmem(at, (size_t)(end - at), key, length))) {
		if (at > t->text && at[-1] == ',' && (at - 1 == t->text || at[-2] != '\\') &&
		    at + length < end && at[length] == '=')
			return true;
		at++;
	}
	return false;
}

bool influx_has_tag(struct buffer *tags, const char *key)
{
	struct buffer written = { 0 };
	bool is;

	influx_key(&written, key);
	is = written.used && !written.failed && is_there(tags, written.text, written.used);
	tags->failed |= written.failed;
	buffer_done(&written);
	return is;
}

char *influx_field_name(struct buffer *tags, const char *key, const json_t *fields)
{
	struct buffer name = { 0 };
	bool is_taken = true;

	for (unsigned prefixes = 0; is_taken && !name.failed; prefixes++) {
		name.used = 0;
		for (unsigned i = 0; i < prefixes; i++)
			buffer_puts(&name, "field_");
		buffer_put(&name, key, strlen(key) + 1);
		is_taken = !name.failed &&
			   (!strcmp(name.text, "time") || influx_has_tag(tags, name.text) ||
			    (prefixes && json_object_get(fields, name.text)));
	}
	if (name.failed || tags->failed)
		buffer_done(&name);
	return name.text;
}

static void put_tag(struct buffer *t, const char *prefix, const char *key, const json_t *value)
{
	struct buffer named = { 0 };

	buffer_puts(&named, prefix);
	buffer_put(&named, key, strlen(key) + 1);
	if (!named.failed && !influx_has_tag(t, named.text))
		influx_tag(t, named.text, json_string_value(value), json_string_length(value));
	t->failed |= named.failed;
	buffer_done(&named);
}

void influx_pushed_tags(struct buffer *t, json_t *tags)
{
	json_t *value;
	const char *key;

	json_object_foreach(tags, key, value)
		if (json_is_string(value) && *key)
			put_tag(t, influx_has_tag(t, key) || !strcmp(key, "time") ? "tag_" : "",
				key, value);
}

void influx_pushed_name(struct buffer *t, const json_t *name)
{
	static const char *const ours[] = { "bpfmon", "bpfmon_process", "bpfmon_event" };
	const char *text = json_string_value(name);
	size_t length = cut(text, json_string_length(name), INFLUX_VALUE_BYTES);
	bool is_taken = !length || *text == '#' || *text == '_';

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		is_taken |= !strcmp(text, ours[i]);
	if (is_taken)
		buffer_puts(t, "pushed_");
	put_name(t, text, length, ", ");
}

void influx_tags(struct buffer *t, const json_t *meta)
{
	json_t *tags = json_object_get(meta, "tags"), *value;
	const char *key;

	for (size_t i = 0; i < sizeof(own_tags) / sizeof(*own_tags); i++) {
		value = json_object_get(meta, own_tags[i]);
		if (json_is_string(value))
			influx_tag(t, own_tags[i], json_string_value(value),
				   json_string_length(value));
	}
	json_object_foreach(tags, key, value)
		if (json_is_string(value) && *key)
			put_tag(t, is_taken(key) ? "tag_" : "", key, value);
}
