// SPDX-License-Identifier: BSD-2-Clause
#include "page/bands.h"

#include "base/text.h"
#include "page/colours.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLOURS 6 /* but the first, which is for what has no name */
#define NR_SPAN_COLOURS 5
#define THINNEST 3  /* pixels; neighbours that are thinner are one bar */
#define TINT 0.09   /* as in the page */
#define CHARACTER 6 /* the width of one, about, at 10 px */
#define NAME_MAX_CHARACTERS 80
#define STEM_BYTES 200

/* As in the page, where 2 looks like the mark of spans that failed. */
static const unsigned span_colours[NR_SPAN_COLOURS] = { 1, 3, 4, 5, 6 };

void bands_done(struct bands *b)
{
	free(b->list);
	*b = (struct bands){ 0 };
}

/* Names that differ only in a number have the same colour: epoch 1, epoch 2. */
static void name_to_stem(char stem[STEM_BYTES], const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < STEM_BYTES; text++) {
		if (!isdigit((unsigned char)*text))
			stem[n++] = *text;
		else if (!n || stem[n - 1] != '#')
			stem[n++] = '#';
	}
	stem[n] = '\0';
}

/* @colours: from the stems that have been seen to their colours. -ENOMEM. */
static int phase_colour(json_t *colours, const char *text, unsigned *colour)
{
	char stem[STEM_BYTES];
	const json_t *known;

	*colour = 0;
	if (!text)
		return 0;
	name_to_stem(stem, text);
	known = json_object_get(colours, stem);
	*colour = known ? (unsigned)json_integer_value(known)
			: 1 + (unsigned)(json_object_size(colours) % COLOURS);
	if (known || !json_object_set_new_nocheck(colours, stem, json_integer(*colour)))
		return 0;
	return -ENOMEM;
}

static int bands_add_phases(struct bands *b, const struct phases *p)
{
	json_t *colours = json_object();
	int err = colours ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < p->nr; i++) {
		struct band *band = &b->list[b->nr++];

		*band = (struct band){ .start = (double)p->all[i].start_ns / 1e9,
				       .end = (double)p->all[i].end_ns / 1e9,
				       .text = p->all[i].text };
		err = phase_colour(colours, band->text, &band->colour);
	}
	json_decref(colours);
	b->has_phases = true;
	b->lanes = 1;
	return err;
}

/* What begins first is first, and of these what is around the others. */
static int band_compare(const void *a, const void *b)
{
	const struct band *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end == y->end ? 0 : x->end > y->end ? -1 : 1;
}

static void bands_add_spans(struct bands *b, const struct report_spans *all,
			    uint64_t start_epoch_ns)
{
	struct band *spans = b->list + b->nr;
	double until[SPAN_LANES] = { 0 };
	size_t nr = 0;
	unsigned used = 0;

	for (size_t i = 0; i < all->nr; i++) {
		const struct report_span *s = &all->list[i];
		double start = ((double)s->start_epoch_ns - (double)start_epoch_ns) / 1e9;

		spans[i] = (struct band){ .start = fmax(0, start),
					  .end = start + (double)s->used.wall_ns / 1e9,
					  .text = all->names[s->name].text,
					  .colour = span_colours[s->name % NR_SPAN_COLOURS] };
	}
	qsort(spans, all->nr, sizeof(*spans), band_compare);
	for (size_t i = 0; i < all->nr; i++) {
		unsigned lane = 0;

		while (lane < SPAN_LANES && until[lane] > spans[i].start)
			lane++;
		if (lane == SPAN_LANES)
			continue;
		until[lane] = spans[i].end;
		used = lane + 1 > used ? lane + 1 : used;
		spans[nr] = spans[i];
		spans[nr++].lane = b->lanes + lane;
	}
	b->nr += nr;
	b->lanes += used;
}

int bands_make(struct bands *b, const struct report_run *r)
{
	size_t phases = r->phases.nr > 1 ? r->phases.nr : 0;
	int err = 0;

	*b = (struct bands){ .list = calloc(phases + r->spans.nr + 1, sizeof(*b->list)) };
	if (!b->list)
		return -ENOMEM;
	if (phases)
		err = bands_add_phases(b, &r->phases);
	if (r->spans.nr)
		bands_add_spans(b, &r->spans, r->start_epoch_ns);
	return err;
}

double bands_height(const struct bands *b)
{
	return b->lanes * LANE_HEIGHT;
}

static double place_of_time(const struct band_place *p, double seconds)
{
	return p->left + fmax(0, fmin(1, seconds / p->wall)) * p->width;
}

/* The bar from @x to @end; several that are thin have no name, and the colour of what has none. */
static void bar_put(FILE *f, const struct band *b, const struct band_place *p, double x, double end,
		    bool is_several)
{
	double y = p->lanes_top + b->lane * LANE_HEIGHT;
	size_t room = (size_t)(fmax(0, end - x - 7) / CHARACTER);
	unsigned colour = is_several ? 0 : b->colour;

	fprintf(f, "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, y,
		fmax(0.5, end - x - (end - x > THINNEST)), LANE_HEIGHT - 2, fill_colours[colour]);
	if (is_several || !b->text || room < 3)
		return;
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\" fill=\"#1b2126\">", x + 3, y + 10);
	xml_write(f, b->text,
		  strlen(b->text) <= room ? room : (size_t)fmin(room - 1, NAME_MAX_CHARACTERS));
	fputs("</text>\n", f);
}

static void lane_put(FILE *f, const struct bands *b, const struct band_place *p, unsigned lane)
{
	const struct band *thin = NULL;
	double thin_x = 0, thin_end = 0;

	for (size_t i = 0; i < b->nr; i++) {
		const struct band *band = &b->list[i];
		double x = place_of_time(p, band->start), end = place_of_time(p, band->end);

		if (band->lane != lane || band->start > p->wall)
			continue;
		if (end - x < THINNEST && thin && x - thin_end < THINNEST) {
			thin_end = end;
			continue;
		}
		if (thin)
			bar_put(f, thin, p, thin_x, thin_end, true);
		thin = NULL;
		if (end - x >= THINNEST) {
			bar_put(f, band, p, x, end, false);
			continue;
		}
		thin = band;
		thin_x = x;
		thin_end = end;
	}
	if (thin)
		bar_put(f, thin, p, thin_x, thin_end, true);
}

static void tints_put(FILE *f, const struct bands *b, const struct band_place *p)
{
	for (size_t i = 0; i < b->nr; i++) {
		const struct band *band = &b->list[i];
		double x = place_of_time(p, band->start), end = place_of_time(p, band->end);

		if (!band->lane && band->colour && end - x >= THINNEST)
			fprintf(f,
				"<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" "
				"fill=\"%s\" fill-opacity=\"%g\"/>\n",
				x, p->plot_top, end - x, p->plot_height, line_colours[band->colour],
				TINT);
	}
}

void bands_write(FILE *f, const struct bands *b, const struct band_place *p)
{
	if (b->has_phases)
		tints_put(f, b, p);
	for (unsigned lane = 0; lane < b->lanes; lane++)
		lane_put(f, b, p, lane);
}
