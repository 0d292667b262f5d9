// SPDX-License-Identifier: BSD-2-Clause
#include "page/page.h"

#include "base/text.h"
#include "page/plot.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* The files of page/assets and third_party/uplot, embedded by assets.c. */
#define ASSET(name) extern const char asset_##name[], asset_##name##_end[]
ASSET(uplot_css);
ASSET(uplot_js);
ASSET(uplot_licence);
ASSET(page_css);
ASSET(tables_css);
ASSET(timeline_css);
ASSET(phases_css);
ASSET(events_css);
ASSET(times_css);
ASSET(gpus_css);
ASSET(body_html);
ASSET(spanlanes_html);
ASSET(charts_html);
ASSET(pushed_html);
ASSET(phases_html);
ASSET(spans_html);
ASSET(holders_html);
ASSET(instances_html);
ASSET(timeline_html);
ASSET(tables_html);
ASSET(events_html);
ASSET(facts_html);
ASSET(base_js);
ASSET(header_js);
ASSET(tiles_js);
ASSET(times_js);
ASSET(marks_js);
ASSET(steps_js);
ASSET(charts_js);
ASSET(legend_js);
ASSET(folded_js);
ASSET(stage_js);
ASSET(held_js);
ASSET(phases_js);
ASSET(events_js);
ASSET(holders_js);
ASSET(instances_js);
ASSET(overview_js);
ASSET(pushed_js);
ASSET(cells_js);
ASSET(lanes_js);
ASSET(words_js);
ASSET(facts_js);
ASSET(gpus_js);
ASSET(timeline_js);
ASSET(selection_js);
ASSET(tables_js);
ASSET(spans_js);
ASSET(controls_js);
ASSET(main_js);
ASSET(many_css);
ASSET(overlay_html);
ASSET(comparison_js);
ASSET(overlay_js);
#undef ASSET

#define NR(list) (sizeof(list) / sizeof(*(list)))

#define TITLE_CHARACTERS 300

#define PAGE_LANES (PAGE_SPANS | PAGE_TIMELINE)
#define PAGE_CHARTS (1 << 10)  /* drawn by uPlot */
#define PAGE_OF_MANY (1 << 11) /* page of many runs */

struct asset {
	const char *start, *end;
	unsigned parts; /* parts that need it; 0 for every page */
};

#define ASSET_OF(name)                                                                             \
	{                                                                                          \
		asset_##name, asset_##name##_end, 0                                                \
	}
#define ASSET_FOR(parts, name)                                                                     \
	{                                                                                          \
		asset_##name, asset_##name##_end, parts                                            \
	}

int page_make_nonce(char nonce[PAGE_NONCE_BYTES])
{
	unsigned char random[PAGE_NONCE_BYTES / 2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(nonce + 2 * i, 3, "%02x", random[i]);
	return 0;
}

static void asset_put(FILE *f, struct asset a)
{
	fwrite(a.start, 1, (size_t)(a.end - a.start), f);
}

static void assets_put(FILE *f, const struct asset *list, size_t nr, unsigned parts)
{
	for (size_t i = 0; i < nr; i++)
		if (!list[i].parts || list[i].parts & parts)
			asset_put(f, list[i]);
}

static void page_put_element(FILE *f, const char *element, const char *nonce,
			     const struct asset *list, size_t nr, unsigned parts)
{
	fprintf(f, "<%s nonce=\"%s\">\n/* SPDX-License-Identifier: BSD-2-Clause */\n", element,
		nonce);
	assets_put(f, list, nr, parts);
	fprintf(f, "</%s>\n", element);
}

/* Writes "<", which occurs only in strings of JSON, as \u003c. */
static void page_put_data(FILE *f, const struct jsonw *data)
{
	const char *at = data->text, *end = data->text + data->used, *next;

	fputs("<script type=\"application/json\" id=\"data\">", f);
	for (; (next = memchr(at, '<', (size_t)(end - at))); at = next + 1) {
		fwrite(at, 1, (size_t)(next - at), f);
		fputs("\\u003c", f);
	}
	fwrite(at, 1, (size_t)(end - at), f);
	fputs("</script>\n", f);
}

/* The parts of a page that do not depend on its data. */
struct page {
	const char *title;
	const struct asset *body, *scripts;
	size_t nr_body, nr_scripts;
	unsigned parts;               /* of the page */
	const struct page_served *by; /* NULL for a file, which fetches nothing */
};

static void page_put_head(FILE *f, const char *nonce, const struct page *p)
{
	static const struct asset styles[] = { ASSET_FOR(PAGE_CHARTS, uplot_css),
					       ASSET_OF(page_css),
					       ASSET_OF(tables_css),
					       ASSET_FOR(PAGE_LANES, timeline_css),
					       ASSET_FOR(PAGE_PHASES, phases_css),
					       ASSET_FOR(PAGE_EVENTS, events_css),
					       ASSET_FOR(PAGE_TIMES, times_css),
					       ASSET_FOR(PAGE_GPUS, gpus_css),
					       ASSET_FOR(PAGE_OF_MANY, many_css) };

	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", f);
	fprintf(f,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'nonce-%s'; style-src 'nonce-%s'; base-uri 'none'; form-action "
		"'none'%s\">\n",
		nonce, nonce, p->by ? "; connect-src 'self'; img-src 'self'" : "");
	if (p->by)
		fputs("<link rel=\"icon\" href=\"/favicon.svg\">\n", f);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n",
	      f);
	fputs("<title>", f);
	xml_write(f, p->title, TITLE_CHARACTERS);
	fprintf(f, "</title>\n<style nonce=\"%s\">\n", nonce);
	colours_write_css(f, !p->nr_scripts);
	fputs("</style>\n", f);
	page_put_element(f, "style", nonce, styles, NR(styles), p->parts);
	if (p->by)
		page_put_element(f, "style", nonce,
				 &(struct asset){ p->by->style.start, p->by->style.end, 0 }, 1, 0);
	fputs("</head>\n<body>\n", f);
}

static void page_put_licence(FILE *f)
{
	fputs("<details class=\"licence\"><summary>Licence of uPlot, which draws the "
	      "charts</summary><pre>\n",
	      f);
	asset_put(f, (struct asset)ASSET_OF(uplot_licence));
	fputs("</pre></details>\n", f);
}

static int page_put(FILE *f, const struct page *p, const struct jsonw *data)
{
	static const struct asset uplot[] = { ASSET_OF(uplot_js) };
	char drawn[PAGE_NONCE_BYTES];
	const char *nonce = p->by ? p->by->nonce : drawn;
	int err = p->by ? 0 : page_make_nonce(drawn);

	if (err)
		return err;
	page_put_head(f, nonce, p);
	assets_put(f, p->body, p->nr_body, p->parts);
	if (p->parts & PAGE_CHARTS)
		page_put_licence(f);
	fputs("</footer>\n", f);
	if (data)
		page_put_data(f, data);
	if (p->parts & PAGE_CHARTS)
		page_put_element(f, "script", nonce, uplot, 1, 0);
	if (p->by)
		page_put_element(f, "script", nonce,
				 &(struct asset){ p->by->script.start, p->by->script.end, 0 }, 1,
				 0);
	if (p->nr_scripts)
		page_put_element(f, "script", nonce, p->scripts, p->nr_scripts, p->parts);
	fputs("</body>\n</html>\n", f);
	return ferror(f) ? -EIO : 0;
}

int page_write_served(FILE *f, const struct page_data *data, const struct page_served *s)
{
	static const struct asset body[] = { ASSET_OF(body_html),
					     ASSET_FOR(PAGE_SPANS, spanlanes_html),
					     ASSET_OF(charts_html),
					     ASSET_FOR(PAGE_PUSHED, pushed_html),
					     ASSET_FOR(PAGE_PHASES, phases_html),
					     ASSET_FOR(PAGE_SPANS, spans_html),
					     ASSET_FOR(PAGE_HOLDERS, holders_html),
					     ASSET_FOR(PAGE_INSTANCES, instances_html),
					     ASSET_FOR(PAGE_TIMELINE, timeline_html),
					     ASSET_OF(tables_html),
					     ASSET_FOR(PAGE_EVENTS, events_html),
					     ASSET_OF(facts_html) };
	static const struct asset scripts[] = { ASSET_OF(base_js),
						ASSET_OF(header_js),
						ASSET_OF(tiles_js),
						ASSET_FOR(PAGE_GPUS, gpus_js),
						ASSET_FOR(PAGE_TIMES, times_js),
						ASSET_OF(marks_js),
						ASSET_OF(steps_js),
						ASSET_OF(charts_js),
						ASSET_OF(legend_js),
						ASSET_OF(folded_js),
						ASSET_FOR(PAGE_HELD, held_js),
						ASSET_OF(stage_js),
						ASSET_FOR(PAGE_PHASES, phases_js),
						ASSET_OF(overview_js),
						ASSET_FOR(PAGE_PUSHED, pushed_js),
						ASSET_OF(cells_js),
						ASSET_FOR(PAGE_LANES, lanes_js),
						ASSET_FOR(PAGE_TIMELINE, timeline_js),
						ASSET_OF(words_js),
						ASSET_OF(facts_js),
						ASSET_OF(selection_js),
						ASSET_OF(tables_js),
						ASSET_FOR(PAGE_EVENTS, events_js),
						ASSET_FOR(PAGE_HOLDERS, holders_js),
						ASSET_FOR(PAGE_INSTANCES, instances_js),
						ASSET_FOR(PAGE_SPANS, spans_js),
						ASSET_OF(controls_js),
						ASSET_OF(main_js) };
	const struct page page = { .title = "bpfmon report",
				   .body = body,
				   .nr_body = NR(body),
				   .scripts = scripts,
				   .nr_scripts = NR(scripts),
				   .parts = data->parts | PAGE_CHARTS,
				   .by = s };

	return page_put(f, &page, &data->json);
}

int page_write(FILE *f, const struct page_data *data)
{
	return page_write_served(f, data, NULL);
}

int page_write_own(FILE *f, const char *title, struct page_text body, const struct jsonw *data,
		   const struct page_served *s)
{
	static const struct asset scripts[] = { ASSET_OF(base_js) };
	const struct asset own = { body.start, body.end, 0 };
	const struct page page = { .title = title,
				   .body = &own,
				   .nr_body = 1,
				   .scripts = scripts,
				   .nr_scripts = NR(scripts),
				   .by = s };

	return page_put(f, &page, data);
}

int page_write_overlay(FILE *f, const struct jsonw *data)
{
	static const struct asset body[] = { ASSET_OF(overlay_html) };
	static const struct asset scripts[] = { ASSET_OF(base_js),   ASSET_OF(cells_js),
						ASSET_OF(words_js),  ASSET_OF(comparison_js),
						ASSET_OF(marks_js),  ASSET_OF(steps_js),
						ASSET_OF(charts_js), ASSET_OF(legend_js),
						ASSET_OF(folded_js), ASSET_OF(controls_js),
						ASSET_OF(overlay_js) };
	const struct page page = { .title = "bpfmon comparison",
				   .body = body,
				   .nr_body = NR(body),
				   .scripts = scripts,
				   .nr_scripts = NR(scripts),
				   .parts = PAGE_CHARTS };

	return page_put(f, &page, data);
}

int page_write_many(FILE *f, const char *title, struct page_text body)
{
	const struct asset own = { body.start, body.end, 0 };
	const struct page page = {
		.title = title, .body = &own, .nr_body = 1, .parts = PAGE_OF_MANY
	};

	return page_put(f, &page, NULL);
}
