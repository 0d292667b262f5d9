// SPDX-License-Identifier: BSD-2-Clause
#include "page/plot.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "text/format.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE 60
#define HOUR 3600
#define TICK_WIDTH 58 /* for the time at a tick */
#define TICK_HEIGHT 24

static bool unit_is_bytes(enum chart_unit unit)
{
	return unit == CHART_MEMORY || unit == CHART_BYTES || unit == CHART_BYTE_RATE;
}

double axis_step(enum chart_unit unit, double span, unsigned max)
{
	double step, least = span / max;

	if (unit_is_bytes(unit))
		return fmax(1, exp2(ceil(log2(least))));
	step = pow(10, floor(log10(least)));
	if (step < least)
		step = step * 2 >= least ? step * 2 : step * 5 >= least ? step * 5 : step * 10;
	if (unit == CHART_COUNT)
		step = fmax(step, 1);
	return step;
}

double axis_time_step(double span, unsigned max)
{
	static const double steps[] = { 1,   2,   5,    10,   15,   30,    60,    120,   300,
					600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400 };
	double least = span / max;

	if (least <= 0.5)
		return axis_step(CHART_CORES, span, max);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i] >= least)
			return steps[i];
	return ceil(least / 86400) * 86400;
}

/* Shortens 64.0 MiB to 64 MiB. */
static void axis_drop_zeros(char *text)
{
	char *unit = strchr(text, ' '), *end;

	if (!unit || !memchr(text, '.', (size_t)(unit - text)))
		return;
	for (end = unit; end[-1] == '0'; end--)
		;
	if (end[-1] == '.')
		end--;
	memmove(end, unit, strlen(unit) + 1);
}

char *axis_format_value(char out[AXIS_TEXT], enum chart_unit unit, double value)
{
	if (unit_is_bytes(unit)) {
		format_bytes(out, number_clamp(floor(value)));
		axis_drop_zeros(out);
	} else if (unit == CHART_WATTS) {
		format_value(out, UNIT_MILLIWATT, number_clamp(value * 1000));
		axis_drop_zeros(out);
	} else if (unit == CHART_SHARE) {
		snprintf(out, AXIS_TEXT, "%.3g %%", value * 100);
	} else if (value >= 10) {
		format_count(out, number_clamp(value));
	} else {
		snprintf(out, AXIS_TEXT, "%.3g", value);
	}
	if (unit == CHART_BYTE_RATE || unit == CHART_COUNT_RATE)
		strncat(out, "/s", AXIS_TEXT - strlen(out) - 1);
	return out;
}

char *axis_format_time(char out[AXIS_TEXT], double seconds, double step, double wall)
{
	int places = step >= 1 ? 0 : (int)fmin(6, ceil(-log10(step) - 1e-9));
	unsigned long s;

	seconds = round(seconds * pow(10, places)) / pow(10, places); /* avoids 0:60 */
	s = number_clamp(floor(seconds));

	if (wall < MINUTE)
		snprintf(out, AXIS_TEXT, "%.*f", places, seconds);
	else if (wall < HOUR)
		snprintf(out, AXIS_TEXT, "%lu:%0*.*f", s / MINUTE, places ? 3 + places : 2, places,
			 fmod(seconds, MINUTE));
	else
		snprintf(out, AXIS_TEXT, "%lu:%02lu:%02lu", s / HOUR, s / MINUTE % MINUTE,
			 s % MINUTE);
	return out;
}

/* Returns the unit of axis_format_time(): "s", "min:s", "h:min:s". */
static const char *axis_time_unit(double wall)
{
	return wall < MINUTE ? "s" : wall < HOUR ? "min:s" : "h:min:s";
}

void axis_draw_values(FILE *f, const struct plot *b, enum chart_unit unit, double top)
{
	double step = axis_step(unit, top, (unsigned)fmax(2, fmin(5, b->height / TICK_HEIGHT)));
	char text[AXIS_TEXT];

	for (unsigned i = 0; i * step <= top * (1 + 1e-9); i++) {
		double v = i * step, y = b->bottom - v / top * b->height;

		fprintf(f,
			"<path d=\"M%d %.1fh%.0f\" stroke=\"%s\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			PLOT_LEFT, y, b->width, v > 0 ? "#e4e8eb" : colour_light(COLOUR_QUIET),
			PLOT_LEFT - 6, y + 3.5, axis_format_value(text, unit, v));
	}
}

void axis_draw_time(FILE *f, const struct plot *b, double wall)
{
	double step = axis_time_step(wall, (unsigned)fmax(2, fmin(7, b->width / TICK_WIDTH)));
	char text[AXIS_TEXT];

	for (unsigned i = 0; i * step <= wall * (1 + 1e-9); i++) {
		double t = i * step, x = PLOT_LEFT + t / wall * b->width;

		fprintf(f,
			"<path d=\"M%.1f %.0fv4\" stroke=\"%s\"/>"
			"<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
			x, b->bottom, colour_light(COLOUR_QUIET), x, b->bottom + 16,
			axis_format_time(text, t, step, wall));
	}
	fprintf(f,
		"<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">time since the start "
		"[%s]</text>\n",
		PLOT_LEFT + b->width / 2, b->bottom + 31, axis_time_unit(wall));
}

#define NARROWEST 1 /* pixels */
#define FAR 15      /* pixels between steps that are not of similar height, as in the page */
#define SOON 3      /* pixels between two such steps */

void trace_done(struct trace *t)
{
	free(t->list);
	*t = (struct trace){ 0 };
}

static void step_merge(struct trace_step *to, const struct trace_step *from)
{
	double weight = to->weight + from->weight;

	to->end = from->end;
	to->y[BUCKET_MEAN] =
		(to->y[BUCKET_MEAN] * to->weight + from->y[BUCKET_MEAN] * from->weight) / weight;
	/* y grows downwards */
	to->y[BUCKET_LEAST] = fmax(to->y[BUCKET_LEAST], from->y[BUCKET_LEAST]);
	to->y[BUCKET_MOST] = fmin(to->y[BUCKET_MOST], from->y[BUCKET_MOST]);
	to->weight = weight;
	to->samples += from->samples;
}

/* Returns true if the values of the steps are written as the same numbers. */
static bool step_is_level(const struct trace_step *a, const struct trace_step *b)
{
	bool is_same = true;

	for (int k = 0; k < NR_BUCKET_VALUES; k++)
		is_same &= lround(a->y[k] * 10) == lround(b->y[k] * 10);
	return is_same;
}

int trace_make(struct trace *t, const struct trace_scale *scale,
	       const struct downsampler_bucket *rows, size_t nr, trace_value_fn *at,
	       const void *context)
{
	double x = scale->left;
	bool is_apart = true;

	*t = (struct trace){ .list = memory_calloc(nr + 1, sizeof(*t->list)) };
	for (size_t i = 0; t->list && i < nr; i++) {
		struct trace_step *last = t->nr ? &t->list[t->nr - 1] : NULL;
		struct trace_step s = { .x = x, .samples = scale->each, .is_apart = is_apart };

		s.end = x = scale->left + rows[i].seconds * scale->x_per_second;
		is_apart = isnan(at(context, i, BUCKET_MEAN));
		if (is_apart)
			continue;
		s.weight = fmax(s.end - s.x, 1e-9);
		for (int k = 0; k < NR_BUCKET_VALUES; k++)
			s.y[k] = scale->bottom -
				 at(context, i, (enum bucket_value)k) * scale->y_per_unit;
		if (last && !s.is_apart &&
		    (s.end - last->x <= NARROWEST || step_is_level(last, &s)))
			step_merge(last, &s);
		else
			t->list[t->nr++] = s;
	}
	return t->list ? 0 : -ENOMEM;
}

static bool step_is_far(const struct trace_step *a, const struct trace_step *b)
{
	return fabs(a->y[BUCKET_MEAN] - b->y[BUCKET_MEAN]) > FAR;
}

void trace_write_line(FILE *f, const struct trace *t)
{
	double jump = -INFINITY;

	for (size_t i = 0; i < t->nr; i++) {
		const struct trace_step *s = &t->list[i];
		bool is_far = i && step_is_far(s - 1, s);

		if (s->is_apart || (is_far && s->x - jump < SOON && s->end - s->x < s->samples))
			fprintf(f, "M%.1f %.1f", s->x, s->y[BUCKET_MEAN]);
		else
			fprintf(f, "V%.1f", s->y[BUCKET_MEAN]);
		/* a dot if it has no width, as lines have round ends */
		fprintf(f, "H%.1f", s->end);
		if (is_far)
			jump = s->x;
	}
}

/* Returns the end of the steps from @i on that follow each other. */
static size_t trace_end(const struct trace *t, size_t i)
{
	while (++i < t->nr && !t->list[i].is_apart)
		;
	return i;
}

void trace_write_area(FILE *f, const struct trace *t, double bottom)
{
	for (size_t i = 0, end; i < t->nr; i = end) {
		end = trace_end(t, i);
		fprintf(f, "M%.1f %.1f", t->list[i].x, bottom);
		for (size_t k = i; k < end; k++)
			fprintf(f, "V%.1fH%.1f", t->list[k].y[BUCKET_MEAN], t->list[k].end);
		fprintf(f, "V%.1fZ", bottom);
	}
}

void trace_write_band(FILE *f, const struct trace *t)
{
	for (size_t i = 0, end; i < t->nr; i = end) {
		end = trace_end(t, i);
		fprintf(f, "M%.1f %.1f", t->list[i].x, t->list[i].y[BUCKET_LEAST]);
		for (size_t k = i; k < end; k++)
			fprintf(f, "V%.1fH%.1f", t->list[k].y[BUCKET_MOST], t->list[k].end);
		for (size_t k = end; k-- > i;)
			fprintf(f, "V%.1fH%.1f", t->list[k].y[BUCKET_LEAST], t->list[k].x);
		fputc('Z', f);
	}
}

/*
 * Colours of curves are those of Okabe and Ito, which colour-blind readers can distinguish,
 * lightened for the dark theme. Colours without a dark variant are only used in SVG files.
 */
/* clang-format off */
static const struct {
	const char *name, *light, *dark;
} page_colours[NR_PAGE_COLOURS] = {
	[COLOUR_PAPER] =      { "paper",      "#ffffff", "#1a1f24" },
	[COLOUR_GROUND] =     { "ground",     "#f6f7f8", "#12161a" },
	[COLOUR_TEXT] =       { "text",       "#1b2126", "#e6eaed" },
	[COLOUR_QUIET] =      { "quiet",      "#5a6670", "#9aa7b1" },
	[COLOUR_LINE] =       { "line",       "#dde2e6", "#2e363d" },
	[COLOUR_GRID] =       { "grid",       "#e9edf0", "#262d33" },
	[COLOUR_BAD] =        { "bad",        "#b3261e", "#ff9a8d" },
	[COLOUR_BAD_GROUND] = { "bad-ground", "#fdf0ee", "#35201e" },
	[COLOUR_WARN] =       { "warn",       "#8a5a00", "#f0b429" },
	[COLOUR_WARN_GROUND] = { "warn-ground", "#fff4d9", "#352a10" },
	[COLOUR_GOOD] =       { "good",       "#1a6e4a", "#6fd3a5" },
	[COLOUR_FOCUS] =      { "focus",      "#0072b2", "#6cb8ea" },
	[COLOUR_SERIES] =     { "series-0",   "#20262b", "#eef2f5" },
	[COLOUR_SERIES + 1] = { "series-1",   "#0072b2", "#56b4e9" },
	[COLOUR_SERIES + 2] = { "series-2",   "#d55e00", "#f0913a" },
	[COLOUR_SERIES + 3] = { "series-3",   "#009e73", "#34c79b" },
	[COLOUR_SERIES + 4] = { "series-4",   "#aa4499", "#e29bc9" },
	[COLOUR_SERIES + 5] = { "series-5",   "#8a6d00", "#e6cf5a" },
	[COLOUR_SERIES + 6] = { "series-6",   "#56a0c8", "#9cc9e3" },
	[COLOUR_FILL] =       { "fill-0",     "#c7cdd2", NULL },
	[COLOUR_FILL + 1] =   { "fill-1",     "#9bcae8", "#285a7a" },
	[COLOUR_FILL + 2] =   { "fill-2",     "#f2bd98", "#7d4d22" },
	[COLOUR_FILL + 3] =   { "fill-3",     "#99d9c5", "#1c6650" },
	[COLOUR_FILL + 4] =   { "fill-4",     "#e3bfdd", NULL },
	[COLOUR_FILL + 5] =   { "fill-5",     "#dccf94", NULL },
	[COLOUR_FILL + 6] =   { "fill-6",     "#c3dfee", NULL },
};
/* clang-format on */

const char *colour_light(enum colour colour)
{
	return page_colours[colour].light;
}

static void theme_write_css(FILE *f, const char *selector, bool is_dark)
{
	fprintf(f, "%s{color-scheme:%s", selector, is_dark ? "dark" : "light");
	for (size_t i = 0; i < NR_PAGE_COLOURS; i++)
		if (page_colours[i].dark)
			fprintf(f, ";--%s:%s", page_colours[i].name,
				is_dark ? page_colours[i].dark : page_colours[i].light);
	fputs("}\n", f);
}

void colours_write_css(FILE *f, bool by_system)
{
	theme_write_css(f, ":root", false);
	if (by_system)
		fputs("@media screen and (prefers-color-scheme:dark){", f);
	theme_write_css(f, by_system ? ":root" : ":root[data-theme=\"dark\"]", true);
	if (by_system)
		fputs("}\n", f);
}

#define COLOURS 6 /* without the first, which is for phases without a name */
#define NR_SPAN_COLOURS 5
#define THINNEST 3  /* pixels; thinner neighbours are merged */
#define TINT 0.09   /* as in the page */
#define CHARACTER 6 /* approximate width at 10 px */
#define NAME_MAX_CHARACTERS 80
#define STEM_BYTES 200

/* As in the page. 2 would look like the mark of failed spans. */
static const unsigned span_colours[NR_SPAN_COLOURS] = { 1, 3, 4, 5, 6 };

void bands_done(struct bands *b)
{
	free(b->list);
	*b = (struct bands){ 0 };
}

/* Names that differ only in a number, such as epoch 1 and epoch 2, get the same colour. */
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

/* @colours maps known stems to their colours. Returns 0 or -ENOMEM. */
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

/* Sorts by start; of spans with the same start, the longest is first. */
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

	*b = (struct bands){ .list = memory_calloc(phases + r->spans.nr + 1, sizeof(*b->list)) };
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

/*
 * Draws a bar from @x to @end. Merged bars have no name, and the colour of phases without a name.
 */
static void bar_put(FILE *f, const struct band *b, const struct band_place *p, double x, double end,
		    bool is_several)
{
	double y = p->lanes_top + b->lane * LANE_HEIGHT;
	size_t room = (size_t)(fmax(0, end - x - 7) / CHARACTER);
	unsigned colour = is_several ? 0 : b->colour;

	fprintf(f, "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, y,
		fmax(0.5, end - x - (end - x > THINNEST)), LANE_HEIGHT - 2,
		colour_light(COLOUR_FILL + colour));
	if (is_several || !b->text || room < 3)
		return;
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\" fill=\"%s\">", x + 3, y + 10,
		colour_light(COLOUR_TEXT));
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
				x, p->plot_top, end - x, p->plot_height,
				colour_light(COLOUR_SERIES + band->colour), TINT);
	}
}

void bands_write(FILE *f, const struct bands *b, const struct band_place *p)
{
	if (b->has_phases)
		tints_put(f, b, p);
	for (unsigned lane = 0; lane < b->lanes; lane++)
		lane_put(f, b, p, lane);
}
