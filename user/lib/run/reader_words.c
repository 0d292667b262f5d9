// SPDX-License-Identifier: BSD-2-Clause
/* Names and tags, which exports repeat in each line: no longer in a file than recording allows. */
#include "run/reader_parts.h"

#include "base/text.h"
#include "run/run.h"

#include <string.h>

#define MOST_BYTES (3 * (size_t)RUN_WORD_BYTES) /* a byte that is not UTF-8 has become three */

static void word_cut(json_t *v, size_t most)
{
	const char *text = json_string_value(v);

	if (text && json_string_length(v) > most)
		json_string_setn_nocheck(v, text, text_cut_bytes(text, most));
}

static void tags_cut(json_t *tags, size_t most)
{
	const char *key;
	json_t *v;
	void *next;
	size_t nr = 0;

	json_object_foreach_safe(tags, next, key, v)
	{
		if (nr++ < most && strlen(key) < MOST_BYTES)
			word_cut(v, MOST_BYTES - strlen(key));
		else
			json_object_del(tags, key);
	}
}

void words_cut(json_t *o, size_t most_tags)
{
	static const char *const words[] = { "run", "name", "job", "host", "user" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		word_cut(json_object_get(o, words[i]), MOST_BYTES);
	tags_cut(json_object_get(o, "tags"), most_tags);
}
