// SPDX-License-Identifier: BSD-2-Clause
/* The JSON writer: any bytes as a text and as a key, any double, any number. */
#include "fuzz.h"

#include "base/number.h"
#include "run/tree.h"

#include <math.h>

static bool is_utf8(const char *text, size_t size)
{
	uint32_t c;

	for (size_t i = 0, n; i < size; i += n) {
		n = utf8_decode(text + i, size - i, &c);
		if (!n)
			return false;
	}
	return true;
}

static void check_number(const json_t *tree, uint64_t bits)
{
	const json_t *v = json_object_get(tree, "double"), *whole = json_object_get(tree, "uint");
	double number;

	memcpy(&number, &bits, sizeof(bits));
	FUZZ_HOLDS(isfinite(number) ? json_is_number(v) && json_number_value(v) == number
				    : json_is_null(v));
	FUZZ_HOLDS((uint64_t)json_integer_value(whole) == (bits < NUMBER_MAX ? bits : NUMBER_MAX));
	FUZZ_HOLDS(json_integer_value(json_object_get(tree, "int")) == (int64_t)bits);
	FUZZ_HOLDS(number_clamp(number) <= NUMBER_MAX);
}

/* What jansson parsed of the text is the same text when it is written again. */
static void check_again(const struct jsonw *j, const json_t *tree)
{
	struct jsonw again = { 0 };

	tree_write(&again, NULL, tree);
	FUZZ_HOLDS(again.used == j->used && !memcmp(again.text, j->text, j->used));
	jsonw_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char *key = fuzz_text(data, size);
	struct jsonw j = { 0 };
	const json_t *value;
	uint64_t bits = 0;
	json_t *tree;

	memcpy(&bits, data, size < sizeof(bits) ? size : sizeof(bits));
	jsonw_object(&j, NULL);
	jsonw_bytes(&j, "bytes", text, size);
	jsonw_uint(&j, "uint", bits);
	jsonw_int(&j, "int", (int64_t)bits);
	jsonw_double(&j, "double",
		     ((union {
			     uint64_t bits;
			     double number;
		     }){ bits })
			     .number);
	jsonw_decimal(&j, "decimal", bits & 0xffffff, size % 10);
	jsonw_object(&j, "key");
	jsonw_bool(&j, key, true);
	jsonw_object_end(&j);
	jsonw_object_end(&j);
	FUZZ_HOLDS(!j.failed);
	tree = fuzz_json(j.text, j.used);
	value = json_object_get(tree, "bytes");
	FUZZ_HOLDS(j.lossy || is_utf8(text, size));
	if (is_utf8(text, size))
		FUZZ_HOLDS(json_string_length(value) == size &&
			   !memcmp(json_string_value(value), text, size));
	FUZZ_HOLDS(json_object_size(json_object_get(tree, "key")) == 1);
	check_number(tree, bits);
	check_again(&j, tree);
	json_decref(tree);
	jsonw_done(&j);
	free(key);
	return 0;
}
