// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/list_many.h"

#include "base/log.h"
#include "base/nearest.h"
#include "many/distribution.h"
#include "view/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BINS 20 /* lines of a histogram: two of them are on a screen */

int many_hist_parse(void *options, const char *text)
{
	struct many_options *o = options;
	const char *bad;
	size_t length;
	int err = many_metrics_parse(&o->metrics, text ? text : "wall,peak,cpu", &bad, &length);

	if (!err)
		o->what = MANY_HIST;
	return err;
}

const char *many_metrics_guess(const char *list)
{
	struct many_metrics parsed;
	struct nearest n;
	const char *bad, *word, *key;
	size_t length;

	if (!many_metrics_parse(&parsed, list, &bad, &length))
		return NULL;
	nearest_begin(&n, bad, length);
	for (size_t i = 0; (word = many_metric_word(i, &key)); i++)
		nearest_offer(&n, word);
	for (size_t i = 0; i < NR_KEYS; i++)
		if (compare_key(i).name)
			nearest_offer(&n, compare_key(i).name);
	return n.distance ? n.word : NULL;
}

/* clang-format off */
const struct option_row many_rows[] = {
	{ "hist", 0, "METRIC,...", true, "Distributions of all of them: wall, peak, cpu, or keys of METRICS.md", many_hist_parse, 0, GUARD_NONE },
	{ 0 }
};
/* clang-format on */

/* The values of the metrics, from the list and, where need be, the summaries. */
static int many_read(struct many_values *v, const struct many_metrics *m, const struct stores *s,
		     const struct stored_runs *all)
{
	int err = many_values_open(v, m, all);

	if (err)
		log_error("out of memory for the values of %zu runs", all->nr);
	if (err || !many_values_need_summaries(v))
		return err;
	if (s->agent) {
		log_error("the agent of the node answers only with wall_seconds, cpu_seconds, "
			  "rss_peak_bytes, processes_total, exit_code and signal of a run; as root "
			  "all are read from its store");
		return -EOPNOTSUPP;
	}
	return stores_lines(s, all, TEXT_SUMMARY, many_values_take, v);
}

static int hist_print_one(const struct many_values *v, size_t metric, enum print_format as)
{
	struct distribution d;
	struct jsonw j = { 0 };
	int err = distribution_make(&d, v, metric, BINS);

	if (err)
		return err;
	if (as == PRINT_JSON) {
		distribution_json(&j, &d);
		return jsonw_print(&j, stdout);
	}
	if (metric)
		putchar('\n');
	distribution_draw(stdout, &d, terminal_width(stdout), terminal_is_utf8());
	return 0;
}

static int hist_print(const struct many_values *v, enum print_format as)
{
	int err = 0;

	if (!v->nr && as == PRINT_TEXT) {
		puts("no runs");
		return 0;
	}
	for (size_t i = 0; !err && i < v->metrics.nr; i++)
		err = hist_print_one(v, i, as);
	if (err)
		log_error("out of memory for the distribution of %zu runs", v->nr);
	return err;
}

int many_print(const struct many_options *o, enum print_format as, const struct stores *s,
	       const struct stored_runs *all)
{
	struct many_values v = { 0 };
	int err = many_read(&v, &o->metrics, s, all);

	if (!err)
		err = hist_print(&v, as);
	many_values_done(&v);
	return err;
}
