// SPDX-License-Identifier: BSD-2-Clause
#include "study/compare_document.h"

#include "text/format.h"
#include "study/compare_text.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void side_write(struct jsonw *j, const struct side *s)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "name", s->name);
	jsonw_string(j, "format", s->format);
	if (s->is_run) {
		jsonw_bool(j, "complete", s->complete);
		jsonw_bool(j, "has_summary", !s->is_folded);
	}
	jsonw_object_end(j);
}

static void groups_write(struct jsonw *j, const struct groups *all)
{
	jsonw_array(j, "groups");
	for (size_t i = 0; i < all->nr; i++) {
		jsonw_object(j, NULL);
		jsonw_string(j, "name", all->list[i].name);
		jsonw_string(j, "title", all->list[i].title);
		jsonw_array(j, "runs");
		for (size_t k = 0; k < all->list[i].nr; k++)
			side_write(j, all->list[i].sides[k]);
		jsonw_array_end(j);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void test_write(struct jsonw *j, const struct against *x)
{
	if (x->is_single) {
		jsonw_double(j, "z", x->z);
		jsonw_string(j, "method", "robust");
		jsonw_string(j, "verdict", verdict_name(x->verdict));
		return;
	}
	jsonw_double(j, "u", x->test.u);
	jsonw_double(j, "p", x->test.p);
	jsonw_double(j, "p_corrected", x->p_corrected);
	jsonw_string(j, "method", x->test.is_exact ? "exact" : "normal");
	jsonw_string(j, "verdict", verdict_name(x->verdict));
}

/* Writes only "n" for a group that lacks the key. */
static void group_write(struct jsonw *j, const struct comparison *c, size_t group, size_t key)
{
	const struct spread *s = spread_of(c, group, key);
	const struct against *x = against_of(c, group, key);
	const enum metric_unit unit = run_key(key).unit;

	jsonw_object(j, NULL);
	jsonw_uint(j, "n", s->nr);
	if (s->nr) {
		jsonw_double(j, "median", number_drop_noise(unit, s->median));
		jsonw_double(j, "q1", number_drop_noise(unit, s->q1));
		jsonw_double(j, "q3", number_drop_noise(unit, s->q3));
		jsonw_double(j, "min", number_drop_noise(unit, s->least));
		jsonw_double(j, "max", number_drop_noise(unit, s->most));
	}
	if (group && x->has_both) {
		jsonw_double(j, "difference", number_drop_noise(unit, x->difference));
		jsonw_double(j, "relative", x->relative);
		if (x->verdict != VERDICT_NONE)
			test_write(j, x);
	}
	jsonw_object_end(j);
}

static void values_write(struct jsonw *j, const struct comparison *c)
{
	jsonw_object(j, "values");
	for (size_t key = 0; key < NR_KEYS; key++) {
		if (!run_key(key).name || !comparison_has(c, key))
			continue;
		jsonw_array(j, run_key(key).name);
		for (size_t g = 0; g < c->groups->nr; g++)
			group_write(j, c, g, key);
		jsonw_array_end(j);
	}
	jsonw_object_end(j);
}

static void step_write_path(struct jsonw *j, const struct step *s)
{
	const json_t *name;
	size_t i;

	jsonw_array(j, "path");
	json_array_foreach(s->path, i, name)
		jsonw_string(j, NULL, json_string_value(name));
	jsonw_array_end(j);
}

static void step_write_counts(struct jsonw *j, const struct step *s, const struct groups *g,
			      const struct sides *runs)
{
	jsonw_array(j, "counts");
	for (size_t i = 0; i < g->nr; i++) {
		jsonw_array(j, NULL);
		for (size_t k = 0; k < g->list[i].nr; k++)
			jsonw_uint(j, NULL, s->spans[g->list[i].sides[k] - runs->list]);
		jsonw_array_end(j);
	}
	jsonw_array_end(j);
}

static void steps_write(struct jsonw *j, const struct steps *steps, const struct groups *g,
			const struct sides *runs)
{
	char left_out[32];

	snprintf(left_out, sizeof(left_out), "%s_left_out", step_kind_names(steps->kind));
	jsonw_array(j, step_kind_names(steps->kind));
	for (size_t i = 0; i < steps->nr; i++) {
		jsonw_object(j, NULL);
		step_write_path(j, &steps->list[i]);
		step_write_counts(j, &steps->list[i], g, runs);
		values_write(j, &steps->list[i].comparison);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	jsonw_uint(j, left_out, steps->left_out);
}

static void step_write_brief(struct jsonw *j, const struct step *s, const size_t *keys, size_t nr)
{
	const struct comparison *c = &s->comparison;

	jsonw_object(j, NULL);
	jsonw_string(j, "name", s->name);
	jsonw_object(j, "values");
	for (size_t i = 0; i < nr; i++) {
		if (!comparison_has(c, keys[i]))
			continue;
		jsonw_array(j, run_key(keys[i]).name);
		for (size_t g = 0; g < c->groups->nr; g++)
			group_write(j, c, g, keys[i]);
		jsonw_array_end(j);
	}
	jsonw_object_end(j);
	jsonw_object_end(j);
}

void comparison_steps_brief(struct jsonw *j, const struct steps *steps, size_t most)
{
	size_t keys[NR_KEYS], nr = steps_choose_keys(keys, NULL, 0);
	size_t shown = steps->nr < most ? steps->nr : most;

	jsonw_object(j, NULL);
	jsonw_string(j, "kind", step_kind_name(steps->kind));
	jsonw_string(j, "kinds", step_kind_names(steps->kind));
	jsonw_uint(j, "left_out", steps->left_out + steps->nr - shown);
	jsonw_array(j, "keys");
	for (size_t i = 0; i < nr; i++)
		jsonw_string(j, NULL, run_key(keys[i]).name);
	jsonw_array_end(j);
	jsonw_array(j, "list");
	for (size_t i = 0; i < shown; i++)
		step_write_brief(j, &steps->list[i], keys, nr);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

static void changes_write(struct jsonw *j, const json_t *diff)
{
	json_t *row, *texts, *text;
	size_t i, g, k;

	jsonw_object(j, "changed");
	json_array_foreach(diff, i, row) {
		jsonw_array(j, json_string_value(json_object_get(row, "key")));
		json_array_foreach(json_object_get(row, "values"), g, texts) {
			jsonw_array(j, NULL);
			json_array_foreach(texts, k, text)
				jsonw_string(j, NULL, json_string_value(text));
			jsonw_array_end(j);
		}
		jsonw_array_end(j);
	}
	jsonw_object_end(j);
}

/* Writes the verdict on each group except the first, and the keys it is based on. */
static void verdicts_write(struct jsonw *j, const struct comparison *c, size_t facts)
{
	struct comparison_rows r;

	jsonw_array(j, "verdicts");
	for (size_t g = 1; g < c->groups->nr; g++) {
		char *text = verdict_text(c, g, facts);

		comparison_choose_rows(&r, c, g, NULL);
		jsonw_object(j, NULL);
		jsonw_uint(j, "group", g);
		jsonw_string(j, "text", text);
		jsonw_array(j, "changed");
		for (size_t i = 0; i < r.nr_changed; i++)
			jsonw_string(j, NULL, run_key(r.changed[i]).name);
		jsonw_array_end(j);
		jsonw_object_end(j);
		free(text);
	}
	jsonw_array_end(j);
}

static void outcomes_write(struct jsonw *j, const struct outcome *outcomes, size_t nr)
{
	jsonw_array(j, "fail_if");
	for (size_t i = 0; i < nr; i++) {
		jsonw_object(j, NULL);
		jsonw_string(j, "expression", outcomes[i].expression->text);
		jsonw_uint(j, "group", outcomes[i].group);
		if (outcomes[i].step)
			step_write_path(j, outcomes[i].step);
		jsonw_bool(j, "holds", outcomes[i].judgement.holds);
		jsonw_bool(j, "beyond", outcomes[i].judgement.is_beyond);
		if (outcomes[i].judgement.noise != NOISE_NONE)
			jsonw_bool(j, "may_be_noise", true);
		if (outcomes[i].judgement.runs_needed)
			jsonw_uint(j, "runs_needed", outcomes[i].judgement.runs_needed);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

void comparison_document(struct jsonw *j, const struct comparison *c, const struct steps *steps,
			 const struct sides *runs, const json_t *diff,
			 const struct outcome *outcomes, size_t nr)
{
	jsonw_object(j, NULL);
	jsonw_schema(j, "compare");
	jsonw_string(j, "by", c->groups->by);
	groups_write(j, c->groups);
	values_write(j, c);
	if (steps)
		steps_write(j, steps, c->groups, runs);
	changes_write(j, diff);
	verdicts_write(j, c, json_array_size(diff));
	outcomes_write(j, outcomes, nr);
	jsonw_object_end(j);
	jsonw_newline(j);
}

#define LINE_END "\n"

static void text_cell(struct buffer *t, const char *text)
{
	buffer_put_quoted(t, text);
	buffer_puts(t, ",");
}

static void number_cell(struct buffer *t, double v)
{
	char out[DOUBLE_TEXT];

	if (isfinite(v))
		buffer_put(t, out, (size_t)double_format(out, v));
	buffer_puts(t, ",");
}

static void spread_cells(struct buffer *t, const struct spread *s, enum metric_unit unit)
{
	const double values[] = { s->median, s->q1, s->q3, s->least, s->most };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		number_cell(t, s->nr ? number_drop_noise(unit, values[i]) : NAN);
}

static void against_cells(struct buffer *t, const struct against *x, enum metric_unit unit)
{
	bool is_tested = x->has_both && x->verdict != VERDICT_NONE;

	number_cell(t, x->has_both ? number_drop_noise(unit, x->difference) : NAN);
	number_cell(t, x->has_both ? x->relative : NAN);
	number_cell(t, is_tested ? x->p_corrected : NAN);
	buffer_puts(t, is_tested ? verdict_name(x->verdict) : "");
}

/* @step is the name of a step, or "" for whole runs; NULL omits the column. */
static void rows_csv(struct buffer *t, const struct comparison *c, const char *step)
{
	static const struct against none;

	for (size_t key = 0; key < NR_KEYS; key++) {
		if (!run_key(key).name || !comparison_has(c, key))
			continue;
		for (size_t g = 0; g < c->groups->nr; g++) {
			const struct spread *s = spread_of(c, g, key);

			if (step)
				text_cell(t, step);
			buffer_printf(t, "%s,", run_key(key).name);
			text_cell(t, c->groups->list[g].name);
			number_cell(t, (double)s->nr);
			spread_cells(t, s, run_key(key).unit);
			against_cells(t, g ? against_of(c, g, key) : &none, run_key(key).unit);
			buffer_puts(t, LINE_END);
		}
	}
}

void comparison_csv(struct buffer *t, const struct comparison *c, const struct steps *steps)
{
	buffer_printf(t,
		      "%svalue,group,n,median,q1,q3,min,max,difference,relative,p_corrected,"
		      "verdict" LINE_END,
		      steps ? "span," : "");
	rows_csv(t, c, steps ? "" : NULL);
	for (size_t i = 0; steps && i < steps->nr; i++)
		rows_csv(t, &steps->list[i].comparison, steps->list[i].name);
}
