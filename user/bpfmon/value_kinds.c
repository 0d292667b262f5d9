// SPDX-License-Identifier: BSD-2-Clause
/* Kinds of option values: corrections for mistyped values, and completions for a shell. */
#include "bpfmon/subcommands.h"

#include "base/nearest.h"
#include "bpfmon/roles/observer.h"
#include "export/export.h"
#include "options/completion.h"
#include "run/metric.h"
#include "study/values.h"
#include "text/run_column.h"

#include <string.h>

/* Corrects the first wrong name of a list. */
const char *metric_guess(const char *list, const char **bad, size_t *length)
{
	struct metric_set set;
	struct nearest n;

	if (!metric_set_parse(&set, list, bad, length))
		return NULL;
	nearest_begin(&n, *bad, *length);
	for (int i = 0; i < NR_METRICS; i++)
		nearest_offer(&n, metric_get((enum metric_id)i)->key);
	return n.word;
}

/* Same for columns. A repeated name is not mistyped. */
const char *columns_guess(const char *list, const char **bad, size_t *length)
{
	struct run_columns parsed;
	struct nearest n;

	if (!run_columns_parse(&parsed, list, bad, length))
		return NULL;
	nearest_begin(&n, *bad, *length);
	for (int i = 0; i < NR_RUN_COLUMNS; i++) {
		nearest_offer(&n, run_column_word((enum run_column)i));
		nearest_offer(&n, run_column_key((size_t)i));
	}
	run_keys_offer(&n);
	return n.distance ? n.word : NULL;
}

/* Same for metrics of many runs. */
const char *many_metrics_guess(const char *list, const char **bad, size_t *length)
{
	struct many_metrics parsed;

	if (!many_metrics_parse(&parsed, list, bad, length))
		return NULL;
	return run_key_nearest(*bad, *length); /* NULL for a repeated name */
}

const char *output_format_guess(const char *text, const char **bad, size_t *length)
{
	const struct observer_ops *ops;
	struct nearest n;

	(void)text;
	nearest_begin(&n, *bad, *length);
	for (size_t i = 0; (ops = observer_at(i)); i++)
		if (!ops->target)
			nearest_offer(&n, ops->name);
	return n.word;
}

const char *export_format_guess(const char *text, const char **bad, size_t *length)
{
	const struct export_format *f;
	struct nearest n;

	(void)text;
	nearest_begin(&n, *bad, *length);
	for (size_t i = 0; (f = export_at(i)); i++)
		nearest_offer(&n, f->name);
	return n.word;
}

void completion_offer_metrics(const struct completion *c)
{
	struct completion part = completion_after(c, ',');
	unsigned groups = 0; /* bit mask of offered groups */

	for (int i = 0; i < NR_METRICS; i++) {
		const struct metric *m = metric_get((enum metric_id)i);

		if (!(groups & 1U << m->group))
			completion_offer(&part, metric_group_name(m->group),
					 "all metrics of this group");
		groups |= 1U << m->group;
		completion_offer(&part, m->key, m->help);
	}
}

void completion_offer_keys(const struct completion *c)
{
	const char *word, *key_of_word;

	for (size_t i = 0; (word = run_key_word(i, &key_of_word)); i++)
		completion_offer(c, word, key_of_word);
	for (size_t i = 0; i < NR_KEYS; i++) {
		struct run_key key = run_key(i);

		if (key.name)
			completion_offer(c, key.name, NULL);
	}
}

void completion_offer_orders(const struct completion *c)
{
	completion_offer(c, "start", "the newest first");
	completion_offer(c, "name", "by name");
	completion_offer_keys(c);
}

/* Offers metrics of many runs, also after commas: short names and keys. */
void completion_offer_many(const struct completion *c)
{
	struct completion part = completion_after(c, ',');

	completion_offer_keys(&part);
}

static void completion_offer_column(const struct completion *c, const char *name, const char *help)
{
	size_t key;

	if (run_key_find(name, strlen(name), &key)) /* else it is offered as a key */
		completion_offer(c, name, help);
}

/* Offers columns of lists, also after commas: short names and keys, those of metrics too. */
void completion_offer_columns(const struct completion *c)
{
	struct completion part = completion_after(c, ',');

	for (int i = 0; i < NR_RUN_COLUMNS; i++) {
		const char *word = run_column_word((enum run_column)i);
		const char *key = run_column_key((size_t)i);

		completion_offer_column(&part, word, key);
		if (strcmp(word, key) != 0)
			completion_offer_column(&part, key, NULL);
	}
	completion_offer_keys(&part);
}

void completion_offer_steps(const struct completion *c)
{
	completion_offer(c, "phase", "use by the phases of each name");
	completion_offer(c, "program", "use by the processes of each program");
	completion_offer(c, "span", "use by the spans of each name");
	completion_offer_tag_keys(c);
}

void completion_offer_formats(const struct completion *c)
{
	const struct export_format *f;

	for (size_t i = 0; (f = export_at(i)); i++)
		completion_offer(c, f->name, f->help);
}

/* Offers formats up to the colon of FORMAT:PATH, and files in any case. */
void completion_offer_outputs(const struct completion *c)
{
	struct completion part = completion_after(c, ':');
	const struct observer_ops *ops;

	for (size_t i = 0; part.typed == c->typed && (ops = observer_at(i)); i++)
		if (ops->extension)
			completion_offer_part(c, ops->name, ":", NULL);
	completion_offer_own(&part, "files");
}
