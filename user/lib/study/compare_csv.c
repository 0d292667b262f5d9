// SPDX-License-Identifier: BSD-2-Clause
#include "study/compare_csv.h"

#include "base/number.h"
#include "text/compared_number.h"

#include <math.h>
#include <string.h>

#define LINE_END "\n"

static void text_cell(struct buffer *t, const char *text)
{
	buffer_put_quoted(t, text);
	buffer_puts(t, ",");
}

/* Empty where there is none. */
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
		number_cell(t, s->nr ? number_as_measured(unit, values[i]) : NAN);
}

static void against_cells(struct buffer *t, const struct against *x, enum metric_unit unit)
{
	bool is_tested = x->has_both && x->verdict != VERDICT_NONE;

	number_cell(t, x->has_both ? number_as_measured(unit, x->difference) : NAN);
	number_cell(t, x->has_both ? x->relative : NAN);
	number_cell(t, is_tested ? x->p_corrected : NAN);
	buffer_puts(t, is_tested ? verdict_name(x->verdict) : "");
}

/* @step: the name of the step, or "" for the runs; NULL: there is no such column. */
static void rows_csv(struct buffer *t, const struct comparison *c, const char *step)
{
	static const struct against none;

	for (size_t key = 0; key < NR_KEYS; key++) {
		if (!compare_key(key).name || !comparison_has(c, key))
			continue;
		for (size_t g = 0; g < c->groups->nr; g++) {
			const struct spread *s = spread_of(c, g, key);

			if (step)
				text_cell(t, step);
			buffer_printf(t, "%s,", compare_key(key).name);
			text_cell(t, c->groups->list[g].name);
			number_cell(t, (double)s->nr);
			spread_cells(t, s, compare_key(key).unit);
			against_cells(t, g ? against_of(c, g, key) : &none, compare_key(key).unit);
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
