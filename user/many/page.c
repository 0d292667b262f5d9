// SPDX-License-Identifier: BSD-2-Clause
#include "many/page.h"

#include "base/xml.h"
#include "many/page_parts.h"
#include "view/format.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE_BINS 40
#define WHAT_CHARACTERS 300

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<style>\n"
	":root{color-scheme:light "
	"dark;--text:#222;--soft:#666;--line:#ddd;--bar:#3b74b8;--page:#fff}\n"
	"@media(prefers-color-scheme:dark){:root{--text:#ddd;--soft:#999;--line:#444;--bar:#6ea3dd;"
	"--page:#181a1c}}\n"
	"@media print{:root{--text:#222;--soft:#666;--line:#ddd;--bar:#3b74b8;--page:#fff}}\n"
	"body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page);"
	"max-width:72rem;margin:1rem auto;padding:0 1rem}\n"
	"h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:1.5rem 0 0}\n"
	"p{margin:.2rem "
	"0;color:var(--soft)}svg{width:100%;height:auto;min-width:38rem;max-width:60rem}\n"
	"text{font:11px system-ui,sans-serif;fill:var(--soft)}.bar{fill:var(--bar)}"
	".line{stroke:var(--line)}\n"
	".bar:hover{opacity:.7}section{overflow-x:auto}\n"
	"i{display:inline-block;width:.8em;height:.8em;margin:0 .4em 0 1em;background:var(--bar)}\n"
	"</style>\n";

static void many_page_put_head(FILE *f, const char *what, const struct stored_runs *all)
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
	fputs(head, f);
	fputs("<title>", f);
	xml_write(f, what, WHAT_CHARACTERS);
	fputs("</title></head>\n<body><h1>", f);
	xml_write(f, what, WHAT_CHARACTERS);
	fprintf(f, "</h1>\n<p>%s run%s", format_count(a, all->nr), all->nr == 1 ? "" : "s");
	if (all->nr)
		fprintf(f, ", begun from %s to %s; %s failed", format_moment(first, least, false),
			format_moment(last, most, false), format_count(b, failed));
	fputs("</p>\n", f);
}

static int many_page_put_section(FILE *f, const struct distribution *d)
{
	struct buffer figures = { 0 };
	int err;

	distribution_put_figures(&figures, d);
	err = figures.failed ? -ENOMEM : 0;
	if (!err)
		fprintf(f, "<section><h2>%s</h2>\n<p>%.*s</p>\n", d->key, (int)figures.used,
			figures.text);
	buffer_done(&figures);
	if (!err && d->nr)
		many_draw_histogram(f, d);
	fputs("</section>\n", f);
	return err;
}

static int many_page_put_all(FILE *f, const struct many_values *v, struct distribution *d)
{
	int err = 0;

	for (size_t i = 0; !err && i < v->metrics.nr; i++) {
		err = distribution_make(&d[i], v, i, PAGE_BINS);
		if (!err)
			err = many_page_put_section(f, &d[i]);
	}
	if (err || v->metrics.nr < 2 || !d[0].nr || !d[1].nr)
		return err;
	fprintf(f, "<section><h2>%s and %s</h2>\n", d[0].key, d[1].key);
	err = many_draw_scatter(f, v, 0, 1, &d[0], &d[1]);
	fputs("</section>\n", f);
	return err;
}

int many_page_write(FILE *f, const char *what, const struct many_values *v,
		    const struct stored_runs *all)
{
	struct distribution *d = calloc(MOST_METRICS, sizeof(*d));
	int err = -ENOMEM;

	if (d) {
		many_page_put_head(f, what, all);
		err = many_page_put_all(f, v, d);
		fputs("</body></html>\n", f);
	}
	free(d);
	return err;
}
