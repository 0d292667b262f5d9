// SPDX-License-Identifier: BSD-2-Clause
#include "export/influx_text.h"

#include "base/memory.h"
#include "run/metric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of bytes, at most @max, that end with a whole character. */
static size_t influx_cut(const char *s, size_t length, size_t max)
{
	if (length <= max)
		return length;
	while (max && ((unsigned char)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}

/* Appends a name with a backslash before each of the characters @escaped. */
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

static const char *const measurements[NR_INFLUX_MEASUREMENTS] = {
	[INFLUX_SAMPLE] = "bpfmon",          [INFLUX_INSTANCE] = "bpfmon_by",
	[INFLUX_PROCESS] = "bpfmon_process", [INFLUX_SPAN] = "bpfmon_span",
	[INFLUX_EVENT] = "bpfmon_event",
};

const char *influx_measurement_name(enum influx_measurement m)
{
	return measurements[m];
}

void influx_put_pushed_name(struct buffer *t, const json_t *name)
{
	const char *text = json_string_value(name);
	size_t length = influx_cut(text, json_string_length(name), INFLUX_VALUE_BYTES);
	bool is_taken = !length || *text == '#' || *text == '_';

	for (size_t i = 0; i < NR_INFLUX_MEASUREMENTS; i++)
		is_taken |= !strcmp(text, measurements[i]);
	if (is_taken)
		buffer_puts(t, "pushed_");
	influx_put_name(t, text, length, ", ");
}

static const char *const own_tags[] = { "run", "name", "host", "user", "job" };

/* Returns true if bpfmon itself writes a tag or field of that name. */
static bool influx_key_is_reserved(const char *key)
{
	/* clang-format off */
	static const char *const others[] = {
		"time", "elapsed_seconds", "event", "comm", "exe", "span", "span_name", "pid", "ppid", "uid", "start_time",
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

/* Keys are compared as written, since two may become equal when they are truncated and escaped. */
static bool influx_tags_has_written(const struct influx_tags *t, const char *written)
{
	return json_object_get(t->keys, written) || json_object_get(t->pushed, written);
}

/* Returns @key as written, to be freed; NULL if memory runs out. */
static char *influx_written_key(const char *key)
{
	struct buffer written = { 0 };

	influx_put_key(&written, key);
	buffer_put(&written, "", 1);
	if (written.failed)
		buffer_done(&written);
	return written.text;
}

static bool influx_tags_has(struct influx_tags *t, const char *key)
{
	char *written = influx_written_key(key);
	bool has = written && influx_tags_has_written(t, written);

	t->text.failed |= !written;
	free(written);
	return has;
}

char *influx_field_name(struct influx_tags *t, const char *key, const json_t *fields)
{
	struct buffer name = { 0 };
	bool is_taken = true;

	for (unsigned prefixes = 0; is_taken && !name.failed && !t->text.failed; prefixes++) {
		name.used = 0;
		for (unsigned i = 0; i < prefixes; i++)
			buffer_puts(&name, "field_");
		buffer_put(&name, key, strlen(key) + 1);
		is_taken = !name.failed &&
			   (!strcmp(name.text, "time") || influx_tags_has(t, name.text) ||
			    (prefixes && json_object_get(fields, name.text)));
	}
	if (name.failed || t->text.failed)
		buffer_done(&name);
	return name.text;
}

/* Adds a tag unless its value is empty or its key was written before. */
static int influx_tags_add(struct influx_tags *t, json_t *keys, const char *key,
			   const json_t *value)
{
	char *written = influx_written_key(key);
	int err = written ? 0 : -ENOMEM;

	if (!err && json_string_length(value) && !influx_tags_has_written(t, written)) {
		err = json_object_set_new_nocheck(keys, written, json_true()) ? -ENOMEM : 0;
		influx_put_tag(&t->text, key, json_string_value(value), json_string_length(value));
	}
	free(written);
	return err;
}

static void influx_tags_put(struct influx_tags *t, json_t *keys, const char *prefix,
			    const char *key, const json_t *value)
{
	char *named;

	if (memory_asprintf(&named, "%s%s", prefix, key) < 0)
		named = NULL;
	if (!named || influx_tags_add(t, keys, named, value))
		t->text.failed = true;
	free(named);
}

int influx_tags_init(struct influx_tags *t, const json_t *meta)
{
	json_t *tags = json_object_get(meta, "tags"), *value;
	const char *key;

	*t = (struct influx_tags){ .keys = json_object(), .pushed = json_object() };
	if (!t->keys || !t->pushed)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(own_tags) / sizeof(*own_tags); i++) {
		value = json_object_get(meta, own_tags[i]);
		if (json_is_string(value))
			influx_tags_put(t, t->keys, "", own_tags[i], value);
	}
	json_object_foreach(tags, key, value)
		if (json_is_string(value) && *key)
			influx_tags_put(t, t->keys, influx_key_is_reserved(key) ? "tag_" : "", key,
					value);
	t->of_run = t->text.used;
	return t->text.failed ? -ENOMEM : 0;
}

void influx_tags_done(struct influx_tags *t)
{
	buffer_done(&t->text);
	json_decref(t->keys);
	json_decref(t->pushed);
	*t = (struct influx_tags){ 0 };
}

void influx_tags_push(struct influx_tags *t, json_t *tags)
{
	json_t *value;
	const char *key;

	json_object_foreach(tags, key, value)
		if (json_is_string(value) && *key)
			influx_tags_put(t, t->pushed,
					influx_tags_has(t, key) || !strcmp(key, "time") ? "tag_"
											: "",
					key, value);
}

void influx_tags_push_one(struct influx_tags *t, const char *key, const char *value)
{
	json_t *text = json_string(value);
	enum metric_id id;
	bool needs_prefix = influx_tags_has(t, key) || !strcmp(key, "time") ||
			    !metric_find(key, strlen(key), &id);

	if (text)
		influx_tags_put(t, t->pushed, needs_prefix ? "tag_" : "", key, text);
	else
		t->text.failed = true;
	json_decref(text);
}

void influx_tags_pop(struct influx_tags *t)
{
	t->text.used = t->of_run;
	json_object_clear(t->pushed);
}

#define SLOTS (1UL << 20) /* 2 MiB; enough times for a billion points */
#define NS_OF_US 1000
#define LAST_US (INT64_MAX / NS_OF_US - 1) /* all its nanoseconds are within InfluxDB's range */
#define TRIES (1UL << 24)

int influx_times_init(struct influx_times *t)
{
	t->given = memory_calloc(SLOTS, sizeof(*t->given));
	return t->given ? 0 : -ENOMEM;
}

void influx_times_done(struct influx_times *t)
{
	free(t->given);
	t->given = NULL;
}

/*
 * Returns the slot of a microsecond. Microseconds that share a slot still use each nanosecond once;
 * they are only full earlier. So a table of fixed size suffices for any number of points.
 */
static uint16_t *influx_times_slot(struct influx_times *t, uint64_t us)
{
	return &t->given[(us * 0x9e3779b97f4a7c15ULL) >> 44];
}

uint64_t influx_times_next(struct influx_times *t, uint64_t epoch_ns)
{
	uint64_t us = epoch_ns / NS_OF_US;
	uint16_t *given;

	if (us > LAST_US)
		us = LAST_US;
	if (!us) /* 0 is the error */
		us = 1;
	for (uint64_t i = 0; i < TRIES; i++) {
		given = influx_times_slot(t, us);
		if (*given < NS_OF_US)
			return us * NS_OF_US + (*given)++;
		us += us > LAST_US / 2 ? -1ULL : 1; /* turn back before the end of the range */
	}
	return 0;
}
