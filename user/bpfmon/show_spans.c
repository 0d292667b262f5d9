// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/show_spans.h"

#include "run/phase.h"
#include "run/tree.h"
#include "run/writer.h"

#include <errno.h>

int spans_shown_read(struct spans_shown *shown, struct source *s, bool is_each)
{
	int err;

	*shown = (struct spans_shown){ 0 };
	err = spans_read_paths(s, is_each, &shown->paths);
	return err ? err : spans_read_sums(s, &shown->paths, &shown->sums);
}

void spans_shown_done(struct spans_shown *shown)
{
	span_paths_done(&shown->paths);
	span_sums_done(&shown->sums);
}

static unsigned span_value_decimals(enum span_value v)
{
	return span_value_kind(v)->unit == UNIT_NS ? 9 : 0;
}

/* The names, outermost first. */
static void path_json(struct jsonw *j, const struct span_paths *p, size_t at)
{
	size_t above[MAX_SPAN_DEPTH], n = 0;

	for (; at != NO_PATH && n < MAX_SPAN_DEPTH; at = p->all[at].parent)
		above[n++] = at;
	jsonw_array(j, "path");
	while (n)
		jsonw_string(j, NULL, p->all[above[--n]].name);
	jsonw_array_end(j);
}

static void amount_json(struct jsonw *j, enum span_value v, const struct span_amount *a)
{
	const struct span_value_kind *kind = span_value_kind(v);

	jsonw_object(j, kind->key);
	jsonw_uint(j, "n", a->nr);
	if (kind->of_equal == SPAN_SUMMED)
		jsonw_decimal(j, "sum", a->sum, span_value_decimals(v));
	jsonw_decimal(j, "min", a->least, span_value_decimals(v));
	jsonw_decimal(j, "max", a->most, span_value_decimals(v));
	jsonw_object_end(j);
}

static void sum_json(struct jsonw *j, const struct spans_shown *shown, size_t at)
{
	const struct span_sum *sum = &shown->sums.of[at];

	jsonw_object(j, NULL);
	path_json(j, &shown->paths, at);
	if (shown->paths.all[at].is_orphan)
		jsonw_bool(j, "orphan", true);
	jsonw_uint(j, "count", sum->nr);
	jsonw_uint(j, "failed", sum->failed);
	jsonw_uint(j, "incomplete", sum->incomplete);
	jsonw_uint(j, "unended", sum->unended);
	for (int v = 0; v < NR_SPAN_VALUES; v++)
		if (sum->amount[v].nr)
			amount_json(j, (enum span_value)v, &sum->amount[v]);
	jsonw_object_end(j);
}

static void rest_json(struct jsonw *j, const struct spans_shown *shown, const struct summary *run)
{
	uint64_t rest;

	jsonw_object(j, "rest");
	for (int v = 0; v < NR_SPAN_VALUES; v++)
		if (span_sums_rest(&shown->sums, run, (enum span_value)v, &rest))
			jsonw_decimal(j, span_value_kind((enum span_value)v)->key, rest,
				      span_value_decimals((enum span_value)v));
	jsonw_object_end(j);
}

void spans_json(struct jsonw *j, const struct spans_shown *shown, const struct summary *run)
{
	jsonw_array(j, "spans");
	for (size_t at = NO_PATH; (at = span_paths_next(&shown->paths, at)) != NO_PATH;)
		sum_json(j, shown, at);
	jsonw_array_end(j);
	rest_json(j, shown, run);
	jsonw_uint(j, "spans_left_out", shown->paths.left_out);
}

static int span_json_line(void *context, struct line *l)
{
	struct jsonw *j = context;

	tree_write(j, NULL, l->tree);
	return j->failed ? -ENOMEM : 0;
}

int spans_json_each(struct jsonw *j, struct source *s)
{
	int err;

	jsonw_array(j, "spans");
	err = source_each(s, PART(LINE_SPAN), span_json_line, j);
	jsonw_array_end(j);
	return err;
}

static void phase_values_json(struct jsonw *j, const struct metric_set *have, const uint64_t *value)
{
	for (int m = 0; m < NR_METRICS; m++)
		if (metric_has(have, (enum metric_id)m))
			jsonw_decimal(j, metric_get((enum metric_id)m)->key, value[m],
				      metric_decimals((enum metric_id)m));
}

void phases_json(struct jsonw *j, const struct phases *p)
{
	jsonw_array(j, "phases");
	for (size_t i = 0; i < p->nr; i++) {
		const struct phase *ph = &p->all[i];

		jsonw_object(j, NULL);
		jsonw_string(j, "text", ph->text);
		jsonw_decimal(j, "start_seconds", ph->start_ns, 9);
		jsonw_decimal(j, "end_seconds", ph->end_ns, 9);
		if (ph->is_shared)
			jsonw_uint(j, "shared_with", ph->shared_with);
		else
			jsonw_uint(j, "samples", ph->samples);
		if (ph->nr_shared > 1) {
			jsonw_uint(j, "shared_phases", ph->nr_shared);
			jsonw_decimal(j, "shared_end_seconds", ph[ph->nr_shared - 1].end_ns, 9);
		}
		phase_values_json(j, &ph->have, ph->value);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	jsonw_uint(j, "marks_left_out", p->left_out);
}

static void phase_sum_json(struct jsonw *j, const struct phase_sum *sum)
{
	jsonw_uint(j, "count", sum->nr);
	jsonw_decimal(j, "wall_seconds", sum->ns, 9);
	if (sum->nr_shared)
		jsonw_uint(j, "shared_phases", sum->nr_shared);
	phase_values_json(j, &sum->have, sum->value);
}

int phase_sums_json(struct jsonw *j, const struct phases *p)
{
	struct phase_sums sums;
	int err = phase_sums_make(&sums, p);

	jsonw_array(j, "phase_names");
	for (size_t i = 0; !err && i < sums.nr; i++) {
		jsonw_object(j, NULL);
		jsonw_string(j, "text", sums.all[i].text);
		phase_sum_json(j, &sums.all[i]);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	if (!err && sums.shared.nr) {
		jsonw_object(j, "phases_shared");
		phase_sum_json(j, &sums.shared);
		jsonw_object_end(j);
	}
	phase_sums_done(&sums);
	return err;
}
