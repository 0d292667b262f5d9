// SPDX-License-Identifier: BSD-2-Clause
/* The tables that make the options of this program: its subcommands, and kinds of values. */
#include "bpfmon/subcommands.h"

#include "base/nearest.h"
#include "bpfmon/cmd_compare.h"
#include "bpfmon/cmd_list.h"
#include "bpfmon/recording_options.h"
#include "bpfmon/roles/observer.h"
#include "export/export.h"
#include "options/completion.h"
#include "run/metric.h"
#include "study/values.h"
#include "text/runs_text.h"

#include <string.h>

/* clang-format off */
const struct subcommand *const subcommands[] = {
#define SUBCOMMAND(name) &subcommand_##name,
#include "bpfmon/subcommands.def"
	NULL
};
/* clang-format on */

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

static void completion_offer_metrics(const struct completion *c)
{
	struct completion part = completion_after(c, ',');
	unsigned groups = 0; /* those offered: a bit each */

	for (int i = 0; i < NR_METRICS; i++) {
		const struct metric *m = metric_get((enum metric_id)i);

		if (!(groups & 1U << m->group))
			completion_offer(&part, metric_group_name(m->group), "all of this group");
		groups |= 1U << m->group;
		completion_offer(&part, m->key, m->help);
	}
}

static void completion_offer_keys(const struct completion *c)
{
	for (size_t i = 0; i < NR_KEYS; i++) {
		struct compare_key key = compare_key(i);

		if (key.name)
			completion_offer(c, key.name, NULL);
	}
}

/* Those of many runs, after commas, too: short names and keys. */
static void completion_offer_many(const struct completion *c)
{
	struct completion part = completion_after(c, ',');
	const char *word, *key;

	for (size_t i = 0; (word = many_metric_word(i, &key)); i++)
		completion_offer(&part, word, key);
	completion_offer_keys(&part);
}

static void completion_offer_steps(const struct completion *c)
{
	completion_offer(c, "phase", "what the phases of each name used");
	completion_offer(c, "program", "what the processes of each program used");
	completion_offer(c, "span", "what the spans of each name used");
	completion_offer_tag_keys(c);
}

static void completion_offer_formats(const struct completion *c)
{
	const struct export_format *f;

	for (size_t i = 0; (f = export_at(i)); i++)
		completion_offer(c, f->name, f->help);
}

/* FORMAT:PATH: up to the colon the formats, and files in any case. */
static void completion_offer_outputs(const struct completion *c)
{
	struct completion part = completion_after(c, ':');
	const struct observer_ops *ops;

	for (size_t i = 0; part.typed == c->typed && (ops = observer_at(i)); i++)
		if (ops->extension)
			completion_offer_part(c, ops->name, ":", NULL);
	completion_offer_own(&part, "files");
}

const struct value_kind value_kinds[] = {
	{ metrics_parse, metric_guess, completion_offer_metrics },
	{ list_columns_parse, columns_guess, NULL },
	{ many_hist_parse, many_metrics_guess, completion_offer_many },
	{ many_scatter_parse, many_metrics_guess, completion_offer_many },
	{ many_unusual_parse, many_metrics_guess, completion_offer_many },
	{ many_trend_parse, many_metrics_guess, completion_offer_many },
	{ report_many_parse, many_metrics_guess, completion_offer_many },
	{ format_parse, output_format_guess, NULL },
	{ output_parse, NULL, completion_offer_outputs },
	{ export_format_parse, export_format_guess, completion_offer_formats },
	{ fail_if_parse, NULL, completion_offer_keys },
	{ compare_by_parse, NULL, completion_offer_steps },
	{ 0 },
};
