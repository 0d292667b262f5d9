// SPDX-License-Identifier: BSD-2-Clause
#include "page/many_page.h"

#include "base/memory.h"
#include "base/text.h"
#include "page/page.h"
#include "study/distribution.h"
#include "text/format.h"
#include "text/run_column.h"
#include "version.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define PAGE_BINS 40
#define WHAT_CHARACTERS 300
#define NAME_CHARACTERS 60
#define FAILED_SHOWN 200 /* of more than MANY_POINTS runs */
#define PLAIN_METRICS 2  /* columns of the list on a phone */

static void many_page_put_head(FILE *f, const char *what, const struct stored_runs *all,
			       const struct many_groups *groups)
{
	char first[MOMENT_BYTES], last[MOMENT_BYTES], a[FORMAT_BYTES], b[FORMAT_BYTES];
	uint64_t least = UINT64_MAX, most = 0;
	size_t failed = 0;

	for (size_t i = 0; i < all->nr; i++) {
		const struct stored_run *r = &all->runs[i];

		least = r->start_epoch_ns < least ? r->start_epoch_ns : least;
		most = r->start_epoch_ns > most ? r->start_epoch_ns : most;
		failed += stored_run_is(r, ONLY_FAILED);
	}
	fputs("<header class=\"top\"><div class=\"bar\"><p class=\"brand\">bpfmon "
	      "<span>runs</span></p></div>\n<h1>",
	      f);
	xml_write(f, what, WHAT_CHARACTERS);
	fprintf(f, "</h1>\n<p>%s run%s", format_count(a, all->nr), all->nr == 1 ? "" : "s");
	if (all->nr)
		fprintf(f, ", begun from %s to %s; %s failed", format_moment(first, least, false),
			format_moment(last, most, false), format_count(b, failed));
	fputs("</p>\n", f);
	many_groups_put_keys(f, groups);
	fputs("</header>\n<main>\n", f);
}

static int many_page_put_section(FILE *f, const struct many_drawn *m, size_t metric,
				 const struct distribution *d)
{
	struct buffer figures = { 0 };
	int err;

	distribution_put_figures(&figures, d);
	err = figures.failed ? -ENOMEM : 0;
	if (!err)
		fprintf(f, "<section class=\"chart\"><h2>%s</h2>\n<p>%.*s</p>\n",
			many_key_words(d->key), (int)figures.used, figures.text);
	buffer_done(&figures);
	if (!err && d->nr)
		many_draw_histogram(f, m, metric, d);
	fputs("</section>\n", f);
	return err;
}

static int many_page_put_charts(FILE *f, const struct many_drawn *m, struct distribution *d)
{
	const struct many_values *v = m->v;
	int err = 0;

	fputs("<div class=\"grid\">\n", f);
	for (size_t i = 0; !err && i < v->metrics.nr; i++) {
		err = distribution_make(&d[i], v, i, PAGE_BINS);
		if (!err)
			err = many_page_put_section(f, m, i, &d[i]);
	}
	if (!err && v->metrics.nr > 1 && d[0].nr && d[1].nr) {
		fprintf(f, "<section class=\"chart whole-row\"><h2>%s / %s</h2>\n",
			many_key_words(d[1].key), many_key_words(d[0].key));
		err = many_draw_scatter(f, m, &d[0], &d[1]);
		fputs("</section>\n", f);
	}
	fputs("</div>\n", f);
	return err;
}

static const char *metric_class(size_t metric)
{
	return metric < PLAIN_METRICS ? "" : " class=\"roomy\"";
}

static void many_page_put_run(FILE *f, const struct many_drawn *m, size_t i)
{
	const struct stored_run *r = &m->all->runs[i];
	const struct many_metrics *metrics = &m->v->metrics;
	char ref[RUN_CELL_BYTES], text[NUMBER_BYTES], when[MOMENT_BYTES];

	fprintf(f, "<tr id=\"r%zu\"><td class=\"text\"><i class=\"g%u\"></i>", i, m->groups->of[i]);
	xml_write(f, run_ref_text(ref, r, m->sources), NAME_CHARACTERS);
	fputs("</td><td class=\"text\">", f);
	xml_write(f, run_group_name(r), NAME_CHARACTERS);
	fprintf(f, "</td><td class=\"text roomy\">%s</td><td class=\"text\">%s</td>",
		format_moment(when, r->start_epoch_ns, false), run_state_word(stored_run_state(r)));
	for (size_t k = 0; k < metrics->nr; k++) {
		double value = many_value(m->v, k, i);

		fprintf(f, "<td%s>%s</td>", metric_class(k),
			isnan(value) ? "–"
				     : number_format(text, run_key(metrics->key[k]).unit, value));
	}
	fputs("</tr>\n", f);
}

static void many_page_put_list(FILE *f, const struct many_drawn *m)
{
	const struct many_metrics *metrics = &m->v->metrics;

	if (!m->has_points && !m->failed_end)
		return;
	fprintf(f,
		"<section><h2 id=\"list\">%s</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
		"<th class=\"text\" scope=\"col\">Run</th><th class=\"text\" "
		"scope=\"col\">Name</th>"
		"<th class=\"text roomy\" scope=\"col\">Started</th><th class=\"text\" "
		"scope=\"col\">State</th>",
		m->has_points ? "Runs" : "Failed runs");
	for (size_t k = 0; k < metrics->nr; k++)
		fprintf(f, "<th%s scope=\"col\">%s</th>", metric_class(k),
			many_key_words(run_key(metrics->key[k]).name));
	fputs("</tr></thead>\n<tbody>\n", f);
	for (size_t i = 0; i < m->all->nr; i++)
		if (many_run_is_listed(m, i))
			many_page_put_run(f, m, i);
	fputs("</tbody></table></div>\n<p>For the report of one: <code>bpfmon report RUN</code>, "
	      "with "
	      "the number in its row.</p></section>\n",
	      f);
}

/* Finds where the failed runs end that have a point, if not all runs have one. */
static size_t failed_find_end(const struct many_drawn *m)
{
	size_t nr = 0, end = 0;

	for (size_t i = 0; i < m->all->nr && nr < FAILED_SHOWN; i++) {
		if (m->groups->of[i] != MANY_FAILED)
			continue;
		nr++;
		end = i + 1;
	}
	return end;
}

static int many_page_put_body(FILE *f, const char *what, struct many_drawn *m)
{
	struct distribution *d = memory_calloc(MOST_METRICS, sizeof(*d));
	struct many_groups groups = { 0 };
	int err = d ? many_groups_make(&groups, m->all) : -ENOMEM;

	if (!err) {
		m->groups = &groups;
		m->has_points = m->all->nr <= MANY_POINTS;
		m->failed_end = failed_find_end(m);
		many_page_put_head(f, what, m->all, &groups);
		err = many_page_put_charts(f, m, d);
		many_page_put_list(f, m);
		fputs("</main>\n<footer class=\"quiet\"><p>Made by bpfmon " BPFMON_VERSION
		      ". This page is self-contained and fetches nothing.</p>\n",
		      f);
	}
	m->groups = NULL;
	many_groups_done(&groups);
	free(d);
	return err;
}

int many_page_write(FILE *f, const char *what, const struct many_values *v,
		    const struct stored_runs *all, const char *const *sources)
{
	struct many_drawn m = { .v = v, .all = all, .sources = sources };
	char *body = NULL;
	size_t length;
	FILE *to = memory_open_memstream(&body, &length);
	int err = to ? many_page_put_body(to, what, &m) : -ENOMEM;

	if (to && fclose(to) && !err)
		err = -ENOMEM;
	if (!err)
		err = page_write_many(f, what, (struct page_text){ body, body + length });
	free(body);
	return err;
}
