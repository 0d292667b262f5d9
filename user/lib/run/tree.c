// SPDX-License-Identifier: BSD-2-Clause
#include "run/tree.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tree_write_array(struct jsonw *j, const char *key, const json_t *array)
{
	size_t i;
	json_t *v;

	jsonw_array(j, key);
	json_array_foreach(array, i, v)
		tree_write(j, NULL, v);
	jsonw_array_end(j);
}

static void tree_write_object(struct jsonw *j, const char *key, const json_t *object)
{
	const char *name;
	json_t *v;

	jsonw_object(j, key);
	json_object_foreach((json_t *)object, name, v)
		tree_write(j, name, v);
	jsonw_object_end(j);
}

void tree_write(struct jsonw *j, const char *key, const json_t *v)
{
	if (!v) {
		jsonw_null(j, key);
		return;
	}
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		tree_write_object(j, key, v);
		break;
	case JSON_ARRAY:
		tree_write_array(j, key, v);
		break;
	case JSON_STRING:
		jsonw_bytes(j, key, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		jsonw_int(j, key, json_integer_value(v));
		break;
	case JSON_REAL:
		jsonw_double(j, key, json_real_value(v));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		jsonw_bool(j, key, json_is_true(v));
		break;
	default:
		jsonw_null(j, key);
	}
}

bool tree_put_words(struct buffer *t, const json_t *list)
{
	const json_t *word;
	size_t i;

	json_array_foreach(list, i, word) {
		if (i)
			buffer_puts(t, " ");
		if (json_is_string(word))
			buffer_put_printable(t, json_string_value(word), json_string_length(word));
	}
	return json_array_size(list) > 0;
}

void tree_print_words(FILE *f, const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v) {
		if (i)
			fputc(' ', f);
		if (json_is_string(v))
			fputs(json_string_value(v), f);
		else
			fprintf(f, "%lld", (long long)json_integer_value(v));
	}
}

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, which base/json.c writes for an invalid byte */
#define KEY_SHOWN 40               /* printed characters of an unknown key */

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
			n--; /* back to the start of a character */
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

	if (object && !json_is_object(object)) {
		snprintf(why, size, "a value that must be an object is not one");
		return -EBADMSG;
	}
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

bool value_read_number(const json_t *v, unsigned decimals, uint64_t *n)
{
	uint64_t scaled;

	if (json_is_integer(v))
		return json_integer_value(v) >= 0 &&
		       number_scale((uint64_t)json_integer_value(v), decimals, n);
	if (!json_is_real(v) || !number_round(json_real_value(v) * pow(10, decimals), &scaled) ||
	    (!decimals && scaled > NUMBER_MAX))
		return false;
	*n = scaled;
	return true;
}

uint64_t member_read_number(const json_t *o, const char *key, unsigned decimals)
{
	uint64_t n = 0;

	value_read_number(json_object_get(o, key), decimals, &n);
	return n;
}

uint64_t member_read_epoch(const json_t *o, const char *key)
{
	uint64_t us = member_read_number(o, key, 6);

	return us <= UINT64_MAX / 1000 ? us * 1000 : 0;
}

int32_t value_read_int32(const json_t *v)
{
	double n = json_number_value(v);

	return n >= INT32_MIN && n <= INT32_MAX ? (int32_t)n : 0;
}

bool member_read_bytes(const json_t *o, const char *key, uint64_t *bytes)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) && value_read_number(v, 0, bytes);
}

char *tree_command_text(const json_t *meta)
{
	const json_t *command = json_object_get(meta, "command");
	const json_t *attached = json_object_get(meta, "attached");
	const char *container = json_string_value(json_object_get(attached, "container"));
	const char *cgroup = json_string_value(json_object_get(attached, "cgroup"));
	char *text = NULL;
	size_t length;
	FILE *f;

	if (!command && !attached)
		return NULL;
	f = memory_open_memstream(&text, &length);
	if (!f)
		return NULL;
	if (command) {
		tree_print_words(f, command);
	} else if (container || cgroup) {
		fprintf(f, "attached to %s %s", container ? "container" : "cgroup",
			container ? container : cgroup);
	} else {
		fputs("attached to ", f);
		tree_print_words(f, json_object_get(attached, "pids"));
	}
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}
