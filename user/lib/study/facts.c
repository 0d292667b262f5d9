// SPDX-License-Identifier: BSD-2-Clause
#include "study/facts.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "run/tree.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define DEEPEST 8 /* what is nested further is one text */

/*
 * Different in any two runs, or what follows from other facts: no news. Units and capabilities are
 * the list of metrics, as the table of values is.
 */
static const char *const left_out[] = { "kind",        "run",
					"start_time",  "live_socket",
					"units",       "lossy",
					"edited_time", "attached.seeding_seconds",
					"baseline",    NULL };

static bool fact_is_left_out(const char *key)
{
	for (const char *const *k = left_out; *k; k++)
		if (!strcmp(*k, key))
			return true;
	return false;
}

/* A text as it is; anything else as JSON has it. */
static int fact_put_value(struct buffer *t, const json_t *v)
{
	struct jsonw j = { 0 };
	int err;

	if (json_is_string(v)) {
		buffer_put(t, json_string_value(v), json_string_length(v));
	} else {
		tree_write(&j, NULL, v);
		buffer_put(t, j.text, j.used);
	}
	err = j.failed || t->failed ? -ENOMEM : 0;
	jsonw_done(&j);
	return err;
}

static json_t *fact_to_text(json_t *v)
{
	struct buffer t = { 0 };
	json_t *element, *text;
	size_t i;
	int err = 0;

	if (json_is_array(v)) {
		json_array_foreach(v, i, element) {
			if (i)
				buffer_puts(&t, " ");
			if (!err)
				err = fact_put_value(&t, element);
		}
	} else {
		err = fact_put_value(&t, v);
	}
	text = err ? NULL : json_stringn_nocheck(t.text ? t.text : "", t.used);
	buffer_done(&t);
	return text;
}

static int fact_add(json_t *to, const char *key, json_t *v, int depth);

static int facts_add_object(json_t *to, const char *prefix, const json_t *from, int depth)
{
	const char *name;
	json_t *v;
	int err = 0;

	json_object_foreach((json_t *)from, name, v) {
		__cleanup(freep) char *key = NULL;

		if (asprintf(&key, "%s%s%s", prefix, *prefix ? "." : "", name) < 0) {
			key = NULL;
			return -ENOMEM;
		}
		err = fact_add(to, key, v, depth);
		if (err)
			break;
	}
	return err;
}

static int fact_add(json_t *to, const char *key, json_t *v, int depth)
{
	if (fact_is_left_out(key) || json_is_null(v))
		return 0;
	if (json_is_object(v) && depth < DEEPEST)
		return facts_add_object(to, key, v, depth + 1);
	return json_object_set_new_nocheck(to, key, fact_to_text(v)) ? -ENOMEM : 0;
}

int facts_add(json_t *to, const json_t *from)
{
	return facts_add_object(to, "", from, 0);
}
