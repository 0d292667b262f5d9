// SPDX-License-Identifier: BSD-2-Clause
#include "run/fields.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, which base/json.c writes for an invalid byte */
#define KEY_SHOWN 40               /* characters of an unknown key */

static void field_write(struct jsonw *j, const struct field *f, const char *at)
{
	switch (f->type) {
	case FIELD_TEXT:
		if (*at)
			jsonw_string(j, f->key, at);
		break;
	case FIELD_STRING:
		if (*(const char *const *)at)
			jsonw_string(j, f->key, *(const char *const *)at);
		break;
	case FIELD_U64:
		if (*(const uint64_t *)at)
			jsonw_uint(j, f->key, *(const uint64_t *)at);
		break;
	case FIELD_U32:
		if (*(const uint32_t *)at)
			jsonw_uint(j, f->key, *(const uint32_t *)at);
		break;
	case FIELD_BOOL:
		if (*(const bool *)at)
			jsonw_bool(j, f->key, true);
		break;
	}
}

void fields_write(struct jsonw *j, const struct field *fields, const void *from)
{
	for (const struct field *f = fields; f->key; f++)
		field_write(j, f, (const char *)from + f->offset);
}

static bool field_read_number(const struct field *f, const json_t *v, char *at)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || (uint64_t)n > f->limit)
		return false;
	if (f->type == FIELD_U64)
		*(uint64_t *)at = (uint64_t)n;
	else
		*(uint32_t *)at = (uint32_t)n;
	return true;
}

bool field_read_text(const json_t *v, char *at, size_t limit)
{
	const char *text = json_string_value(v);
	size_t n = json_string_length(v);

	if (!text || (n >= limit && !strstr(text, REPLACEMENT)))
		return false;
	if (n >= limit) {
		n = limit - 1;
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--; /* back to where a character begins */
	}
	memcpy(at, text, n);
	at[n] = '\0';
	return true;
}

static bool field_read(const struct field *f, const json_t *v, char *at)
{
	switch (f->type) {
	case FIELD_TEXT:
		return field_read_text(v, at, f->limit);
	case FIELD_STRING:
		if (!json_is_string(v) || json_string_length(v) >= f->limit)
			return false;
		*(const char **)at = json_string_value(v);
		return true;
	case FIELD_BOOL:
		*(bool *)at = json_is_true(v);
		return json_is_boolean(v);
	default:
		return field_read_number(f, v, at);
	}
}

int fields_refuse(const char *key, const char *wrong, char *why, size_t size)
{
	snprintf(why, size, "'%.*s' %s", KEY_SHOWN, key, wrong);
	text_disarm(why);
	return -EBADMSG;
}

static bool keys_have(const char *const *keys, const char *key)
{
	for (; keys && *keys; keys++)
		if (!strcmp(*keys, key))
			return true;
	return false;
}

int fields_read(json_t *object, const struct field *fields, const char *const *others, void *to,
		char *why, size_t size)
{
	const struct field *f;
	const char *key;
	json_t *v;

	if (object && !json_is_object(object))
		return fields_refuse("", "is no object where one is expected", why, size);
	json_object_foreach(object, key, v) {
		if (keys_have(others, key))
			continue;
		f = fields;
		while (f->key && strcmp(f->key, key) != 0)
			f++;
		if (!f->key)
			return fields_refuse(key, "is not known", why, size);
		if (!field_read(f, v, (char *)to + f->offset))
			return fields_refuse(key, "is of another type or out of range", why, size);
	}
	return 0;
}
