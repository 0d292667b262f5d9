// SPDX-License-Identifier: BSD-2-Clause
#include "page/many_page.h"

#include "page/page.h"
#include "base/memory.h"
#include "base/text.h"
#include "study/distribution.h"
#include "study/bins.h"
#include "study/scatter.h"
#include "text/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define WIDTH 900.0
#define HEIGHT 220.0 /* of a histogram */
#define LEFT 80.0
#define BOTTOM 24.0
#define PLANE 520.0 /* height of the scatter plot without margins */
#define MARGIN 90.0 /* for the histograms beside it */
#define CELLS 160   /* maximum per side of the plane */
#define SHADES 6    /* maximum; one for each power of four */
#define PALEST 4    /* lowest opacity, in tenths */
#define LABELS 8    /* approximate number per axis */

struct box {
	double x, y, width, height;
};

static size_t bins_fullest(const struct bins *b)
{
	size_t most = 1;

	for (size_t i = 0; i < b->nr; i++)
		most = b->list[i].count > most ? b->list[i].count : most;
	return most;
}

/* Writes a title such as "5.0 s to 6.0 s: 17 runs". */
static void bin_put_title(FILE *f, const struct bin *bin, const struct edge_style *style)
{
	char text[NUMBER_BYTES];

	fprintf(f, "<title>%s", edge_format(text, style, bin->from));
	if (bin->to > bin->from)
		fprintf(f, " to %s", edge_format(text, style, bin->to));
	fprintf(f, ": %s run%s</title></rect>\n", format_count(text, bin->count),
		bin->count == 1 ? "" : "s");
}

/* Draws bars in @box: upwards or, if @is_horizontal, to the right, the first at the bottom. */
static void bars_put(FILE *f, const struct distribution *d, const struct box *box,
		     bool is_horizontal)
{
	double most = (double)bins_fullest(&d->bins), nr = (double)d->bins.nr;
	const struct edge_style style = edge_style_make(&d->bins, d->unit);

	for (size_t i = 0; i < d->bins.nr; i++) {
		const struct bin *bin = &d->bins.list[i];
		double share = (double)bin->count / most,
		       thick = (is_horizontal ? box->height : box->width) / nr;
		double length = fmax(share * (is_horizontal ? box->width : box->height), 1),
		       at = (double)i * thick;

		if (!bin->count)
			continue;
		if (is_horizontal)
			fprintf(f,
				"<rect class=\"bin\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				"height=\"%.1f\">",
				box->x, box->y + box->height - at - thick, length,
				fmax(thick - 1, 1));
		else
			fprintf(f,
				"<rect class=\"bin\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				"height=\"%.1f\">",
				box->x + at, box->y + box->height - length, fmax(thick - 1, 1),
				length);
		bin_put_title(f, bin, &style);
	}
}

/* Draws labels at edges of bins, below @box or left of it. */
static void axis_put(FILE *f, const struct distribution *d, const struct box *box, bool is_left)
{
	const struct edge_style style = edge_style_make(&d->bins, d->unit);
	size_t step = (d->bins.nr + LABELS - 1) / LABELS;
	double nr = (double)d->bins.nr;
	char text[NUMBER_BYTES];

	for (size_t i = 0; i <= d->bins.nr; i += step) {
		double share = (double)i / nr;

		edge_format(text, &style, bins_edge(&d->bins, i));
		if (is_left)
			fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
				box->x - 6, box->y + box->height * (1 - share) + 4, text);
		else
			fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
				box->x + box->width * share, box->y + box->height + 16, text);
	}
	fprintf(f, "<path class=\"line\" d=\"M%.1f %.1fv%.1fh%.1f\" fill=\"none\"/>\n", box->x,
		box->y, box->height, box->width);
}

static void many_draw_histogram(FILE *f, const struct distribution *d)
{
	const struct box box = { LEFT, 14, WIDTH - LEFT - 40, HEIGHT - BOTTOM - 14 };
	char most[NUMBER_BYTES];

	fprintf(f, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"histogram of %s\">\n",
		WIDTH, HEIGHT, d->key);
	bars_put(f, d, &box, false);
	axis_put(f, d, &box, false);
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n</svg>\n", box.x - 6,
		box.y + 6, format_count(most, bins_fullest(&d->bins)));
}

static unsigned plane_shades(const struct plane *p)
{
	uint32_t most = 0;

	for (size_t i = 0; i < p->x.cells * p->y.cells; i++)
		most = p->count[i] > most ? p->count[i] : most;
	return 1 + plane_shade(most, SHADES);
}

/* Returns the opacity in tenths. */
static unsigned shade_opacity(unsigned shade, unsigned shades)
{
	return shades > 1 ? PALEST + (10 - PALEST) * shade / (shades - 1) : 10;
}

/* One path per shade keeps the page small and fast to draw. */
static void plane_put(FILE *f, const struct plane *p, const struct box *box, unsigned shades)
{
	double w = box->width / (double)p->x.cells, h = box->height / (double)p->y.cells;

	for (unsigned shade = 0; shade < shades; shade++) {
		fprintf(f, "<path class=\"bin o%u\" d=\"", shade_opacity(shade, shades));
		for (size_t i = 0; i < p->x.cells * p->y.cells; i++) {
			size_t row = i / p->x.cells, column = i % p->x.cells;
			uint32_t count = plane_count(p, column, row);

			if (count && plane_shade(count, SHADES) == shade)
				fprintf(f, "M%.1f %.1fh%.1fv%.1fh-%.1fz",
					box->x + w * (double)column,
					box->y + box->height - h * (double)(row + 1), w, h, w);
		}
		fputs("\"/>\n", f);
	}
}

static void shades_put(FILE *f, size_t runs, unsigned shades)
{
	char count[FORMAT_BYTES];
	unsigned from = 1;

	fprintf(f, "<p>%s run%s with both. Runs in a cell:", format_count(count, runs),
		runs == 1 ? "" : "s");
	for (unsigned shade = 0; shade < shades; shade++, from *= 4) {
		fprintf(f, "%s<i class=\"o%u\"></i>%u", shade ? "," : "",
			shade_opacity(shade, shades), from);
		if (shade + 1 < shades)
			fprintf(f, " to %u", 4 * from - 1);
		else
			fputs(" or more", f);
	}
	fputs("</p>\n", f);
}

/*
 * Draws the number of runs in each cell of the plane, with the histograms of @x above and of @y at
 * the right. Returns 0 or -ENOMEM.
 */
static int many_draw_scatter(FILE *f, const struct many_values *v, size_t x_metric, size_t y_metric,
			     const struct distribution *x, const struct distribution *y)
{
	const struct box box = { LEFT, MARGIN, WIDTH - LEFT - MARGIN - 10, PLANE };
	const struct box above = { LEFT, 4, box.width, MARGIN - 8 };
	const struct box beside = { LEFT + box.width + 6, MARGIN, MARGIN - 8, PLANE };
	const struct plane_side right = { .bins = &x->bins, .metric = x_metric };
	const struct plane_side up = { .bins = &y->bins, .metric = y_metric };
	struct plane p;
	unsigned shades;

	if (plane_make(&p, v, right, up, CELLS, CELLS))
		return -ENOMEM;
	shades = plane_shades(&p);
	shades_put(f, p.nr, shades);
	fprintf(f,
		"<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s (to the right) and %s "
		"(upwards)\">\n",
		WIDTH, MARGIN + PLANE + 2 * BOTTOM, x->key, y->key);
	bars_put(f, x, &above, false);
	bars_put(f, y, &beside, true);
	plane_put(f, &p, &box, shades);
	axis_put(f, x, &box, false);
	axis_put(f, y, &box, true);
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
		box.x + box.width / 2, MARGIN + PLANE + 1.6 * BOTTOM, x->key);
	fprintf(f,
		"<text transform=\"translate(12 %.1f)rotate(-90)\" "
		"text-anchor=\"middle\">%s</text>\n"
		"</svg>\n",
		MARGIN + PLANE / 2, y->key);
	plane_done(&p);
	return 0;
}

#define PAGE_BINS 40
#define WHAT_CHARACTERS 300

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
	fputs("<h1>", f);
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
	struct distribution *d = memory_calloc(MOST_METRICS, sizeof(*d));
	char *body = NULL;
	size_t length;
	FILE *to = memory_open_memstream(&body, &length);
	int err = to ? 0 : -ENOMEM;

	if (to) {
		many_page_put_head(to, what, all);
		err = many_page_put_all(to, v, d);
		fputs("<footer class=\"quiet\"><p>Made by bpfmon " BPFMON_VERSION
		      ". This page is self-contained and fetches nothing.</p>\n",
		      to);
		if (fclose(to) && !err)
			err = -ENOMEM;
	}
	if (!err)
		err = page_write_many(f, what, (struct page_text){ body, body + length });
	free(body);
	free(d);
	return err;
}
