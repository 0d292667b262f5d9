// SPDX-License-Identifier: BSD-2-Clause
#include "study/diff.h"

#include "text/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REVISION_SHOWN 12

/* Objects that each run has in its meta line, unless something has shortened that. */
static const char *const in_all_runs[] = { "capabilities.", "system." };

/* Returns an object with the keys of all sides, in the order of first appearance. */
static json_t *facts_collect_keys(const struct groups *g)
{
	json_t *keys = json_object();

	for (size_t i = 0; keys && i < g->nr; i++)
		for (size_t k = 0; k < g->list[i].nr; k++)
			json_object_update_missing(keys, g->list[i].sides[k]->facts);
	return keys;
}

struct texts {
	json_t *seen;    /* the distinct texts, as keys of an object */
	bool is_unknown; /* no result of the group records it: other tools, or shortened lines */
	bool is_partial; /* some runs of bpfmon have the fact, others lack it */
};

/* Returns whether @s, which lacks @key, cannot know it: other tools, or its object is missing. */
static bool fact_is_unrecorded(const struct side *s, const char *key)
{
	for (size_t i = 0; s->is_run && i < sizeof(in_all_runs) / sizeof(*in_all_runs); i++) {
		size_t n = strlen(in_all_runs[i]);
		const char *name;
		bool has = false;
		json_t *v;

		if (strncmp(key, in_all_runs[i], n) != 0)
			continue;
		json_object_foreach(s->facts, name, v)
			has |= !strncmp(name, in_all_runs[i], n);
		return !has;
	}
	return !s->is_run;
}

static struct texts fact_collect(const struct group *g, const char *key)
{
	struct texts t = { .seen = json_object(), .is_unknown = true };
	size_t without = 0;

	for (size_t i = 0; t.seen && i < g->nr; i++) {
		json_t *v = json_object_get(g->sides[i]->facts, key);
		bool records = v || !fact_is_unrecorded(g->sides[i], key);

		t.is_unknown &= !records;
		if (v)
			json_object_set_new_nocheck(t.seen, json_string_value(v), json_true());
		else
			without += records;
	}
	t.is_partial = without && json_object_size(t.seen);
	return t;
}

/* With @is_history what @b has is no change if any run of @a has it. */
static bool fact_is_same(const struct texts *a, const struct texts *b, bool is_history)
{
	const char *text;
	json_t *v;

	if (!is_history && (json_object_size(a->seen) != json_object_size(b->seen) ||
			    a->is_partial != b->is_partial))
		return false;
	if (is_history && !json_object_size(b->seen))
		return !json_object_size(a->seen) || a->is_partial;
	json_object_foreach(is_history ? b->seen : a->seen, text, v)
		if (!json_object_get(is_history ? a->seen : b->seen, text))
			return false;
	return true;
}

static json_t *fact_to_array(const json_t *seen)
{
	json_t *list = json_array(), *v;
	const char *text;

	json_object_foreach((json_t *)seen, text, v)
		json_array_append_new(list, json_string_nocheck(text));
	return list;
}

/* Adds a row to @diff if the groups differ in @key. */
static void fact_diff(json_t *diff, const struct groups *g, const char *key)
{
	struct texts first = { 0 };
	json_t *values = json_array();
	bool differs = false;

	for (size_t i = 0; i < g->nr; i++) {
		struct texts t = fact_collect(&g->list[i], key);

		json_array_append_new(values, fact_to_array(t.seen));
		if (t.is_unknown && !json_object_size(t.seen)) {
			json_decref(t.seen); /* another tool does not record it */
		} else if (!first.seen) {
			first = t;
		} else {
			differs |= !fact_is_same(&first, &t, g->is_history);
			json_decref(t.seen);
		}
	}
	json_decref(first.seen);
	if (differs)
		json_array_append_new(diff, json_pack("{s:s, s:O}", "key", key, "values", values));
	json_decref(values);
}

json_t *facts_diff(const struct groups *g)
{
	json_t *keys = facts_collect_keys(g), *diff = json_array(), *v;
	const char *key;

	json_object_foreach(keys, key, v)
		fact_diff(diff, g, key);
	json_decref(keys);
	return diff;
}

bool diff_row_is_news(const struct groups *g, const json_t *row)
{
	const json_t *values = json_object_get(row, "values");

	for (size_t i = 0; i < g->nr; i++) {
		const json_t *texts = json_array_get(values, i);
		const char *text = json_string_value(json_array_get(texts, 0));

		if (json_array_size(texts) != 1 || strcmp(text, g->list[i].title) != 0)
			return true;
	}
	return false;
}

bool diff_has_news(const struct groups *g, const json_t *diff)
{
	json_t *row;
	size_t i;

	json_array_foreach(diff, i, row)
		if (diff_row_is_news(g, row))
			return true;
	return false;
}

static bool key_ends(const char *key, const char *end)
{
	size_t n = strlen(key), m = strlen(end);

	return n > m && !strcmp(key + n - m, end);
}

const char *fact_format(char *out, size_t room, const char *key, const char *text)
{
	char unit[NUMBER_BYTES], moment[MOMENT_BYTES], *end;
	double number = strtod(text, &end);

	if (!strcmp(key, "git.revision") && strlen(text) > REVISION_SHOWN) {
		snprintf(out, room, "%.*s", REVISION_SHOWN, text);
		return out;
	}
	if (end == text || *end || !(fabs(number) < 1e15))
		return text;
	if (key_ends(key, "_bytes"))
		snprintf(out, room, "%s", number_format(unit, UNIT_BYTES, number));
	else if (key_ends(key, "_seconds"))
		snprintf(out, room, "%s", number_format(unit, UNIT_NS, number));
	else if (key_ends(key, "_time") && number > 0 && number < 1e10)
		snprintf(out, room, "%s", format_moment(moment, (uint64_t)(number * 1e9), true));
	else
		return text;
	return out;
}
