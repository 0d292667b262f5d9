// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/show_spans.h"

#include "run/tree.h"

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

/* The names from the outermost on. */
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
