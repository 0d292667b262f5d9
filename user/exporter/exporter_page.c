// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/exporter_page.h"

#include "base/text.h"
#include "text/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARACTERS 120

/* Colors are those of the browser, in its light or dark scheme. */
static const char page_style[] =
	":root{color-scheme:light dark}"
	"body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:1rem auto;padding:0 1rem}"
	"div{overflow-x:auto}"
	"table{border-collapse:collapse;width:100%}"
	"caption{text-align:left;padding:.5rem 0;font-weight:bold}"
	"th,td{padding:.25rem .75rem;border-bottom:1px solid GrayText;text-align:left}"
	"th[scope=row]{font-weight:normal;overflow-wrap:anywhere}"
	".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}";

static void page_put_memory(FILE *f, const struct shown_run *r)
{
	char text[FORMAT_BYTES];

	if (metric_has(&r->have, M_rss))
		fputs(format_bytes(text, r->value[M_rss]), f);
}

static void page_put_cores(FILE *f, const struct shown_run *r)
{
	if (metric_has(&r->have, M_cores))
		fprintf(f, "%.2f", (double)r->value[M_cores] / 1000);
}

static void page_put_time(FILE *f, const struct shown_run *r)
{
	char text[FORMAT_BYTES];

	if (metric_has(&r->have, M_cpu))
		fputs(format_seconds(text, r->value[M_cpu]), f);
}

static void page_put_processes(FILE *f, const struct shown_run *r)
{
	char text[FORMAT_BYTES];

	if (metric_has(&r->have, M_processes))
		fputs(format_count(text, r->value[M_processes]), f);
}

static const struct {
	const char *title;
	void (*put)(FILE *f, const struct shown_run *r);
} page_columns[] = {
	{ "Cores now", page_put_cores },
	{ "Memory now", page_put_memory },
	{ "CPU time", page_put_time },
	{ "Processes", page_put_processes },
};

#define NR_PAGE_COLUMNS (sizeof(page_columns) / sizeof(*page_columns))

static void page_put_row(FILE *f, const struct shown_run *r)
{
	fputs("<tr><th scope=\"row\">", f);
	xml_write(f, *r->labels.job ? r->labels.job : r->labels.name, NAME_CHARACTERS);
	fputs("</th><td>", f);
	xml_write(f, r->labels.name, NAME_CHARACTERS);
	fputs("</td><td>", f);
	xml_write(f, r->labels.user, NAME_CHARACTERS);
	fputs("</td><td>", f);
	xml_write(f, r->labels.kind, NAME_CHARACTERS);
	fputs("</td>", f);
	for (size_t i = 0; i < NR_PAGE_COLUMNS; i++) {
		fputs("<td class=\"n\">", f);
		page_columns[i].put(f, r);
		fputs("</td>", f);
	}
	fputs("</tr>\n", f);
}

static bool page_has(const struct shown_run *r)
{
	return r->state == RUN_LIVE;
}

/* What uses the most CPU now is first; then what has used the most. */
static int compare_shown(const void *a, const void *b)
{
	static const enum metric_id by[] = { M_cores, M_cpu };
	const struct shown_run *one = *(struct shown_run *const *)a;
	const struct shown_run *other = *(struct shown_run *const *)b;

	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++) {
		uint64_t x = metric_has(&one->have, by[i]) ? one->value[by[i]] : 0;
		uint64_t y = metric_has(&other->have, by[i]) ? other->value[by[i]] : 0;

		if (x != y)
			return x < y ? 1 : -1;
	}
	return strcmp(one->labels.job, other->labels.job);
}

static void page_begin(FILE *f, const struct board *b, const char *host)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Jobs on ",
	      f);
	xml_write(f, host, NAME_CHARACTERS);
	fprintf(f, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>Jobs on ",
		page_style);
	xml_write(f, host, NAME_CHARACTERS);
	fputs("</h1>\n", f);
	if (!b->agent.is_up)
		fputs("<p><strong>The agent's stream is not open: nothing is known of live jobs."
		      "</strong></p>\n",
		      f);
}

static void page_put_table(FILE *f, struct shown_run *const *runs, size_t nr)
{
	fputs("<div tabindex=\"0\" role=\"region\" aria-labelledby=\"live\">\n<table>\n"
	      "<caption id=\"live\">Live jobs, by CPU now. Kinds <em>node</em> (all of it) and "
	      "<em>run</em> (within other jobs) count what others count, too.</caption>\n"
	      "<thead><tr><th scope=\"col\">Job</th><th scope=\"col\">Name</th>"
	      "<th scope=\"col\">User</th><th scope=\"col\">Kind</th>",
	      f);
	for (size_t i = 0; i < NR_PAGE_COLUMNS; i++)
		fprintf(f, "<th scope=\"col\" class=\"n\">%s</th>", page_columns[i].title);
	fputs("</tr></thead>\n<tbody>\n", f);
	for (size_t i = 0; i < nr && i < PAGE_ROWS; i++)
		page_put_row(f, runs[i]);
	fputs("</tbody>\n</table>\n</div>\n", f);
	if (nr > PAGE_ROWS)
		fprintf(f, "<p>%zu further jobs use less.</p>\n", nr - PAGE_ROWS);
}

int jobs_page_write(FILE *f, const struct board *b, const char *host)
{
	struct shown_run **runs;
	size_t nr = 0;

	for (struct shown_run *r = b->first; r; r = r->next)
		nr += page_has(r);
	runs = calloc(nr + 1, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	nr = 0;
	for (struct shown_run *r = b->first; r; r = r->next)
		if (page_has(r))
			runs[nr++] = r;
	qsort(runs, nr, sizeof(*runs), compare_shown);
	page_begin(f, b, host);
	page_put_table(f, runs, nr);
	fputs("<p><a href=\"/metrics\">Metrics for Prometheus</a></p>\n</main>\n</body>\n</html>\n",
	      f);
	free(runs);
	return 0;
}
