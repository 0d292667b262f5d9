// SPDX-License-Identifier: BSD-2-Clause
#include "compare/document.h"

static void side_write(struct json *j, const struct side *s)
{
	jw_object(j, NULL);
	jw_string(j, "name", s->name);
	jw_string(j, "format", s->format);
	if (s->is_run) {
		jw_bool(j, "complete", s->complete);
		jw_bool(j, "has_summary", !s->is_folded);
	}
	jw_object_end(j);
}

static void groups_write(struct json *j, const struct groups *all)
{
	jw_array(j, "groups");
	for (size_t i = 0; i < all->nr; i++) {
		jw_object(j, NULL);
		jw_string(j, "name", all->list[i].name);
		jw_array(j, "runs");
		for (size_t k = 0; k < all->list[i].nr; k++)
			side_write(j, all->list[i].sides[k]);
		jw_array_end(j);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void test_write(struct json *j, const struct against *x)
{
	jw_double(j, "u", x->test.u);
	jw_double(j, "p", x->test.p);
	jw_double(j, "p_corrected", x->p_corrected);
	jw_string(j, "method", x->test.is_exact ? "exact" : "normal");
	jw_string(j, "verdict", verdict_name(x->verdict));
}

/* Of a group that lacks the key, n alone. */
static void group_write(struct json *j, const struct comparison *c, size_t group, size_t key)
{
	const struct spread *s = spread_of(c, group, key);
	const struct against *x = against_of(c, group, key);

	jw_object(j, NULL);
	jw_uint(j, "n", s->nr);
	if (s->nr) {
		jw_double(j, "median", s->median);
		jw_double(j, "q1", s->q1);
		jw_double(j, "q3", s->q3);
		jw_double(j, "min", s->least);
		jw_double(j, "max", s->most);
	}
	if (group && x->has_both) {
		jw_double(j, "difference", x->difference);
		jw_double(j, "relative", x->relative);
		if (x->verdict != VERDICT_NONE)
			test_write(j, x);
	}
	jw_object_end(j);
}

static void values_write(struct json *j, const struct comparison *c)
{
	jw_object(j, "values");
	for (size_t key = 0; key < NR_KEYS; key++) {
		if (!compare_key(key).name || !comparison_has(c, key))
			continue;
		jw_array(j, compare_key(key).name);
		for (size_t g = 0; g < c->groups->nr; g++)
			group_write(j, c, g, key);
		jw_array_end(j);
	}
	jw_object_end(j);
}

static void changes_write(struct json *j, const json_t *diff)
{
	json_t *row, *texts, *text;
	size_t i, g, k;

	jw_object(j, "changed");
	json_array_foreach(diff, i, row) {
		jw_array(j, json_string_value(json_object_get(row, "key")));
		json_array_foreach(json_object_get(row, "values"), g, texts) {
			jw_array(j, NULL);
			json_array_foreach(texts, k, text)
				jw_string(j, NULL, json_string_value(text));
			jw_array_end(j);
		}
		jw_array_end(j);
	}
	jw_object_end(j);
}

static void outcomes_write(struct json *j, const struct outcome *outcomes, size_t nr)
{
	jw_array(j, "fail_if");
	for (size_t i = 0; i < nr; i++) {
		jw_object(j, NULL);
		jw_string(j, "expression", outcomes[i].expression->text);
		jw_uint(j, "group", outcomes[i].group);
		jw_bool(j, "holds", outcomes[i].holds);
		jw_object_end(j);
	}
	jw_array_end(j);
}

void comparison_document(struct json *j, const struct comparison *c, const json_t *diff,
			 const struct outcome *outcomes, size_t nr)
{
	jw_object(j, NULL);
	jw_string(j, "schema", "bpfmon-compare/1");
	jw_string(j, "by", c->groups->by);
	groups_write(j, c->groups);
	values_write(j, c);
	changes_write(j, diff);
	outcomes_write(j, outcomes, nr);
	jw_object_end(j);
	jw_newline(j);
}
