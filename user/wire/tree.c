// SPDX-License-Identifier: BSD-2-Clause
#include "wire/tree.h"

static void tree_write_array(struct json *j, const char *key, const json_t *array)
{
	size_t i;
	json_t *v;

	jw_array(j, key);
	json_array_foreach(array, i, v)
		tree_write(j, NULL, v);
	jw_array_end(j);
}

static void tree_write_object(struct json *j, const char *key, const json_t *object)
{
	const char *name;
	json_t *v;

	jw_object(j, key);
	json_object_foreach((json_t *)object, name, v)
		tree_write(j, name, v);
	jw_object_end(j);
}

void tree_write(struct json *j, const char *key, const json_t *v)
{
	if (!v) {
		jw_null(j, key);
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
		jw_bytes(j, key, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		jw_int(j, key, json_integer_value(v));
		break;
	case JSON_REAL:
		jw_double(j, key, json_real_value(v));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		jw_bool(j, key, json_is_true(v));
		break;
	default:
		jw_null(j, key);
	}
}
