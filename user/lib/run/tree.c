// SPDX-License-Identifier: BSD-2-Clause
#include "run/tree.h"

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
			buffer_put_inert(t, json_string_value(word), json_string_length(word));
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
