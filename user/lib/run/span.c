// SPDX-License-Identifier: BSD-2-Clause
#include "run/span.h"

#include "base/jansson_memory.h"
#include "base/memory.h"
#include "run/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t label_measure_tags(json_t *tags)
{
	size_t length = 0;
	const char *key;
	json_t *v;

	json_object_foreach(tags, key, v)
		length += strlen(key) + json_string_length(v) + 2;
	return length;
}

void label_add_tag(struct span_label *label, char **at, const char *key, const json_t *value)
{
	label->tags[label->nr_tags++] = *at;
	*at += sprintf(*at, "%s=%s", key, json_string_value(value)) + 1;
}

#define TAG_BYTES 256 /* key, equals sign, value, NUL */

/* The members that tables can read. */
struct members {
	char name[SPAN_NAME_BYTES];
	char span[8];
	uint32_t pid, status;
	bool in_place;
};

static const struct field fields[] = {
	FIELD_TEXT_OF(members, name),          FIELD_TEXT_OF(members, span),
	FIELD_U32_OF(members, pid, INT32_MAX), FIELD_U32_OF(members, status, UINT16_MAX),
	FIELD_BOOL_OF(members, in_place),      { .key = NULL },
};

struct live_members {
	char live[16];
};

static const struct field live_fields[] = {
	FIELD_TEXT_OF(live_members, live),
	{ .key = NULL },
};

/* Appends "key=value" to the text of the label, which has room. */
static int label_take_tag(struct span_message *m, char **at, const char *key, const json_t *v,
			  char *why, size_t size)
{
	size_t n = strlen(key);

	if (!n || strchr(key, '=') || !json_is_string(v) ||
	    n + 1 + json_string_length(v) >= TAG_BYTES || m->label.nr_tags == MAX_SPAN_TAGS)
		return fields_refuse("tags",
				     "is not an object of up to 16 short texts with plain keys",
				     why, size);
	label_add_tag(&m->label, at, key, v);
	return 0;
}

static int label_take(struct span_message *m, const char *name, json_t *tags, char *why,
		      size_t size)
{
	size_t n = strlen(name) + 1;
	const char *key;
	char *at;
	json_t *v;
	int err = 0;

	if (tags && !json_is_object(tags))
		return fields_refuse("tags", "is not an object", why, size);
	m->text = at = memory_malloc(n + label_measure_tags(tags));
	if (!at)
		return -ENOMEM;
	m->label.name = memcpy(at, name, n);
	at += n;
	json_object_foreach(tags, key, v)
		if (!err)
			err = label_take_tag(m, &at, key, v, why, size);
	return err;
}

static int live_request_read(struct span_message *m, json_t *o, char *why, size_t size)
{
	struct live_members got = { 0 };
	int err = fields_read(o, live_fields, NULL, &got, why, size);

	if (err)
		return err;
	m->is_live = true;
	m->wants_processes = !strcmp(got.live, "processes");
	if (!m->wants_processes && strcmp(got.live, "samples") != 0)
		return fields_refuse("live", "is neither samples nor processes", why, size);
	return 0;
}

static int message_take(struct span_message *m, json_t *o, char *why, size_t size)
{
	static const char *const others[] = { "tags", NULL };
	struct members got = { 0 };
	int err;

	if (json_object_get(o, "live"))
		return live_request_read(m, o, why, size);
	err = fields_read(o, fields, others, &got, why, size);
	if (err)
		return err;
	m->is_end = !strcmp(got.span, "end");
	if (!m->is_end && strcmp(got.span, "begin") != 0)
		return fields_refuse("span", "is neither begin nor end", why, size);
	if (!got.name[0])
		return fields_refuse("name", "is missing", why, size);
	m->in_place = got.in_place;
	m->has_status = m->is_end && json_object_get(o, "status");
	m->status = (int)got.status;
	m->pid = (pid_t)got.pid;
	return label_take(m, got.name, json_object_get(o, "tags"), why, size);
}

int span_message_read(struct span_message *m, const char *text, size_t length, char *why,
		      size_t size)
{
	size_t failures = memory_failures_of_thread();
	json_t *o = jansson_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	int err;

	*m = (struct span_message){ 0 };
	snprintf(why, size, "the message is not a JSON object");
	err = json_is_object(o) ? message_take(m, o, why, size) : -EBADMSG;
	json_decref(o);
	if (memory_failures_of_thread() > failures) {
		snprintf(why, size, "out of memory");
		err = -ENOMEM;
	}
	if (err)
		span_message_done(m);
	return err;
}

void span_message_done(struct span_message *m)
{
	free(m->text);
	*m = (struct span_message){ 0 };
}
