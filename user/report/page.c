// SPDX-License-Identifier: BSD-2-Clause
#include "report/page.h"

#include "report/assets.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define NONCE_BYTES 16

struct asset {
	const char *start, *end;
};

#define ASSET_OF(name)                                                                             \
	{                                                                                          \
		asset_##name, asset_##name##_end                                                   \
	}

static int nonce_make(char nonce[2 * NONCE_BYTES + 1])
{
	unsigned char random[NONCE_BYTES];

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

static void page_put_element(FILE *f, const char *element, const char *nonce,
			     const struct asset *list, size_t nr)
{
	fprintf(f, "<%s nonce=\"%s\">\n", element, nonce);
	for (size_t i = 0; i < nr; i++) {
		asset_put(f, list[i]);
		fputc('\n', f);
	}
	fprintf(f, "</%s>\n", element);
}

/* In JSON "<" occurs only in strings, where \u003c stands for it. */
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

/* The parts of a page that do not depend on the data. */
struct page {
	const char *title;
	struct asset body;
	const struct asset *scripts;
	size_t nr;
};

static void page_put_head(FILE *f, const char *nonce, const char *title)
{
	static const struct asset styles[] = { ASSET_OF(uplot_css), ASSET_OF(page_css) };

	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", f);
	fprintf(f,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'nonce-%s'; style-src 'nonce-%s'; base-uri 'none'; form-action "
		"'none'\">\n",
		nonce, nonce);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n",
	      f);
	fprintf(f, "<title>%s</title>\n", title);
	page_put_element(f, "style", nonce, styles, sizeof(styles) / sizeof(*styles));
	fputs("</head>\n<body>\n", f);
}

static int page_put(FILE *f, const struct page *p, const struct jsonw *data)
{
	static const struct asset uplot[] = { ASSET_OF(uplot_js) };
	char nonce[2 * NONCE_BYTES + 1];
	int err = nonce_make(nonce);

	if (err)
		return err;
	page_put_head(f, nonce, p->title);
	asset_put(f, p->body);
	fputs("<details class=\"licence\"><summary>Licence of uPlot, which draws the "
	      "charts</summary><pre>\n",
	      f);
	asset_put(f, (struct asset)ASSET_OF(uplot_licence));
	fputs("</pre></details>\n</footer>\n", f);
	page_put_data(f, data);
	page_put_element(f, "script", nonce, uplot, 1);
	page_put_element(f, "script", nonce, p->scripts, p->nr);
	fputs("</body>\n</html>\n", f);
	return ferror(f) ? -EIO : 0;
}

int page_write(FILE *f, const struct jsonw *data)
{
	static const struct asset scripts[] = { ASSET_OF(base_js),     ASSET_OF(header_js),
						ASSET_OF(marks_js),    ASSET_OF(charts_js),
						ASSET_OF(pushed_js),   ASSET_OF(timeline_js),
						ASSET_OF(tables_js),   ASSET_OF(spans_js),
						ASSET_OF(controls_js), ASSET_OF(main_js) };
	const struct page page = { "bpfmon report", ASSET_OF(body_html), scripts,
				   sizeof(scripts) / sizeof(*scripts) };

	return page_put(f, &page, data);
}

int page_write_overlay(FILE *f, const struct jsonw *data)
{
	static const struct asset scripts[] = { ASSET_OF(base_js), ASSET_OF(marks_js),
						ASSET_OF(charts_js), ASSET_OF(controls_js),
						ASSET_OF(overlay_js) };
	const struct page page = { "bpfmon comparison", ASSET_OF(overlay_html), scripts,
				   sizeof(scripts) / sizeof(*scripts) };

	return page_put(f, &page, data);
}
