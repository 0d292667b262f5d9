// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/value_guess.h"

#include "base/nearest.h"
#include "bpfmon/cmd_export.h"
#include "bpfmon/cmd_list.h"
#include "bpfmon/list_many.h"
#include "bpfmon/recording_values.h"
#include "bpfmon/report_many.h"
#include "export/export.h"
#include "run/metric.h"
#include "bpfmon/roles/observer.h"
#include "text/run_column.h"

#include <string.h>

/* Of a list the first name that is wrong. */
static const char *metric_guess(const char *list)
{
	struct metric_set set;
	struct nearest n;
	const char *bad;
	size_t length;

	if (!metric_set_parse(&set, list, &bad, &length))
		return NULL;
	nearest_begin(&n, bad, length);
	for (int i = 0; i < NR_METRICS; i++)
		nearest_offer(&n, metric_get((enum metric_id)i)->key);
	return n.word;
}

/* The same of columns; a name that is there twice is not mistyped. */
static const char *columns_guess(const char *list)
{
	struct run_columns parsed;
	struct nearest n;
	const char *bad;
	size_t length;

	if (!run_columns_parse(&parsed, list, &bad, &length))
		return NULL;
	nearest_begin(&n, bad, length);
	for (int i = 0; i < NR_RUN_COLUMNS; i++) {
		nearest_offer(&n, run_column_word((enum run_column)i));
		nearest_offer(&n, run_column_key((size_t)i));
	}
	return n.distance ? n.word : NULL;
}

static const char *output_format_guess(const char *text)
{
	const struct observer_ops *ops;
	struct nearest n;

	nearest_begin(&n, text, strlen(text));
	for (size_t i = 0; (ops = observer_at(i)); i++)
		if (!ops->target)
			nearest_offer(&n, ops->name);
	return n.word;
}

static const char *export_format_guess(const char *text)
{
	const struct export_format *f;
	struct nearest n;

	nearest_begin(&n, text, strlen(text));
	for (size_t i = 0; (f = export_at(i)); i++)
		nearest_offer(&n, f->name);
	return n.word;
}

const char *value_guess(const struct option_row *row, const char *text)
{
	if (!text)
		return NULL;
	if (row->parse == metrics_parse)
		return metric_guess(text);
	if (row->parse == list_columns_parse)
		return columns_guess(text);
	if (row->parse == many_hist_parse || row->parse == many_scatter_parse ||
	    row->parse == many_unusual_parse || row->parse == many_trend_parse ||
	    row->parse == report_many_parse)
		return many_metrics_guess(text);
	if (row->parse == format_parse)
		return output_format_guess(text);
	return row->parse == export_format_parse ? export_format_guess(text) : NULL;
}
