// SPDX-License-Identifier: BSD-2-Clause
#include "run/rewriter.h"

#include "run/writer_parts.h"
#include "run/tree.h"
#include "run/writer.h"

#include <jansson.h>
#include <string.h>

#define DOUBLE_IS_COARSE 1e6 /* seconds: beyond it one has not all of the nanoseconds */

/* The value of the metric @key as it was read from the line's text. */
static bool exact_metric_write(struct jsonw *j, const struct line *l, const char *key)
{
	const struct metric_set *have = NULL;
	const uint64_t *value = NULL;
	enum metric_id id;

	if (l->kind == LINE_SAMPLE)
		have = &l->sample.have, value = l->sample.value;
	else if (l->kind == LINE_PROCESS)
		have = &l->process.have, value = l->process.value;
	else if (l->kind == LINE_PROCESS_SAMPLE)
		have = &l->process_sample.have, value = l->process_sample.value;
	else if (l->kind == LINE_SUMMARY)
		have = &l->summary.total.have, value = l->summary.total.value;
	else if (l->kind == LINE_SPAN)
		have = &l->span.used.total.have, value = l->span.used.total.value;
	if (!have || metric_find(key, strlen(key), &id) || !metric_has(have, id))
		return false;
	metric_write(j, id, value[id]);
	return true;
}

static bool exact_write(struct jsonw *j, const struct line *l, const char *key, const json_t *v)
{
	if (!json_is_real(v) || json_real_value(v) < DOUBLE_IS_COARSE)
		return false;
	if (l->kind == LINE_SAMPLE && !strcmp(key, "elapsed_seconds"))
		jsonw_decimal(j, key, l->sample.elapsed_ns, 9);
	else if (l->kind == LINE_PROCESS_SAMPLE && !strcmp(key, "elapsed_seconds"))
		jsonw_decimal(j, key, l->process_sample.elapsed_ns, 9);
	else if (l->kind == LINE_SUMMARY && !strcmp(key, "wall_seconds"))
		jsonw_decimal(j, key, l->summary.wall_ns, 9);
	else if (l->kind == LINE_SPAN && !strcmp(key, "wall_seconds"))
		jsonw_decimal(j, key, l->span.used.wall_ns, 9);
	else
		return exact_metric_write(j, l, key);
	return true;
}

void rewrite_line(struct jsonw *j, const struct line *l)
{
	const char *key;
	json_t *v;

	if (!l->tree && l->kind == LINE_SAMPLE)
		write_sample_since(j, l->start_epoch_ns, &l->sample);
	if (!l->tree && l->kind == LINE_PROCESS)
		write_process(j, &l->process);
	if (!l->tree && l->kind == LINE_PROCESS_SAMPLE)
		write_process_sample(j, l->start_epoch_ns, &l->process_sample);
	if (!l->tree && l->kind == LINE_SPAN)
		write_span(j, &l->span);
	if (!l->tree)
		return;
	jsonw_object(j, NULL);
	json_object_foreach((json_t *)l->tree, key, v)
		if (!exact_write(j, l, key, v))
			tree_write(j, key, v);
	line_end(j);
}
