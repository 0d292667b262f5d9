// SPDX-License-Identifier: BSD-2-Clause
#include "page/many_page.h"

#include "base/text.h"
#include "study/bins.h"
#include "study/scatter.h"
#include "text/format.h"
#include "text/run_column.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define WIDTH 620.0
#define HEIGHT 220.0 /* of a histogram */
#define LEFT 78.0
#define LABEL_WIDTH 9.8 /* of a character on a phone, where labels are largest */
#define RIGHT 24.0
#define BOTTOM 26.0
#define PLANE 400.0 /* height of the scatter plot without margins */
#define MARGIN 80.0 /* for the histograms beside it */
#define CELLS 120   /* maximum per side of the plane */
#define SHADES 6    /* maximum; one for each power of four */
#define PALEST 4    /* lowest opacity, in tenths */
#define LABELS 6    /* approximate number per axis */
#define POINT 4.5   /* radius */
#define NAME_SHOWN 60

static const struct {
	const char *key, *words;
} key_words[] = {
	{ "wall_seconds", "Wall time" },
	{ "cpu_seconds", "CPU time" },
	{ "user_seconds", "CPU time, user" },
	{ "system_seconds", "CPU time, system" },
	{ "runqueue_wait_seconds", "Waited for a CPU" },
	{ "cores_mean", "Cores, on average" },
	{ "memory_needed_bytes", "Memory needed" },
	{ "rss_peak_bytes", "Peak memory" },
	{ "minflt", "Minor page faults" },
	{ "majflt", "Major page faults" },
	{ "read_bytes", "Read from storage" },
	{ "write_bytes", "Written to storage" },
	{ "rchar_bytes", "Read by calls" },
	{ "wchar_bytes", "Written by calls" },
	{ "processes_total", "Processes" },
	{ "exit_code", "Exit status" },
};

const char *many_key_words(const char *key)
{
	for (size_t i = 0; i < sizeof(key_words) / sizeof(*key_words); i++)
		if (!strcmp(key_words[i].key, key))
			return key_words[i].words;
	return key;
}

bool many_run_is_listed(const struct many_drawn *m, size_t run)
{
	return m->has_points || (m->groups->of[run] == MANY_FAILED && run < m->failed_end);
}

struct box {
	double x, y, width, height;
};

/* The runs of each group in each bin. */
struct grouped_bins {
	size_t count[MOST_BINS + 1][NR_MANY_GROUPS];
};

static void grouped_bins_fill(struct grouped_bins *g, const struct many_drawn *m, size_t metric,
			      const struct bins *b)
{
	*g = (struct grouped_bins){ 0 };
	for (size_t i = 0; i < m->v->nr; i++) {
		double value = many_value(m->v, metric, i), at;

		if (isnan(value))
			continue;
		at = bins_place(b, value);
		g->count[at < (double)b->nr ? (size_t)at : b->nr - 1][m->groups->of[i]]++;
	}
}

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

	fprintf(f, "<g><title>%s", edge_format(text, style, bin->from));
	if (bin->to > bin->from)
		fprintf(f, " to %s", edge_format(text, style, bin->to));
	fprintf(f, ": %s run%s</title>", format_count(text, bin->count),
		bin->count == 1 ? "" : "s");
}

/* Draws the groups of a bin on top of each other in @at, upwards or, if @is_flat, to the right. */
static void bin_put(FILE *f, const size_t count[NR_MANY_GROUPS], const struct box *at, double most,
		    bool is_flat)
{
	double used = 0, room = is_flat ? at->width : at->height;

	for (size_t i = 0; i < NR_MANY_GROUPS; i++) {
		double length = fmax((double)count[i] / most * room, 1);

		if (!count[i])
			continue;
		if (is_flat)
			fprintf(f,
				"<rect class=\"g%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				"height=\"%.1f\"/>",
				i, at->x + used, at->y, length, at->height);
		else
			fprintf(f,
				"<rect class=\"g%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				"height=\"%.1f\"/>",
				i, at->x, at->y + at->height - used - length, at->width, length);
		used += length;
	}
}

/* Draws bars in @box: upwards or, if @is_flat, to the right, the first at the bottom. */
static void bars_put(FILE *f, const struct many_drawn *m, size_t metric,
		     const struct distribution *d, const struct box *box, bool is_flat)
{
	const struct edge_style style = edge_style_make(&d->bins, d->unit);
	double most = (double)bins_fullest(&d->bins), nr = (double)d->bins.nr;
	double thick = (is_flat ? box->height : box->width) / nr;
	struct grouped_bins groups;

	grouped_bins_fill(&groups, m, metric, &d->bins);
	for (size_t i = 0; i < d->bins.nr; i++) {
		double at = (double)i * thick;
		struct box bar = { box->x, box->y, fmax(thick - 1, 1), box->height };

		if (!d->bins.list[i].count)
			continue;
		if (is_flat)
			bar = (struct box){ box->x, box->y + box->height - at - thick, box->width,
					    fmax(thick - 1, 1) };
		else
			bar.x += at;
		bin_put_title(f, &d->bins.list[i], &style);
		bin_put(f, groups.count[i], &bar, most, is_flat);
		fputs("</g>\n", f);
	}
}

/* The values at which an axis has labels. */
struct ticks {
	double at[MOST_BINS + 1];
	size_t nr;
	double unit; /* of the labels of durations, in seconds; 0: that of each value */
};

/* Seconds at which clocks have marks; the first @nr_tens are powers of ten of a unit. */
static const double clock_steps[] = { 1e-6,  1e-5,  1e-4,   1e-3,   2e-3,    5e-3,   0.01,
				      0.02,  0.05,  0.1,    0.2,    0.5,     1,      2,
				      5,     10,    15,     30,     60,      120,    300,
				      600,   900,   1800,   3600,   7200,    10800,  21600,
				      43200, 86400, 172800, 604800, 1209600, 2592000 };
static const double clock_tens[] = { 1e-6, 1e-5, 1e-4, 1e-3, 0.01,  0.1,   1,
				     10,   60,   600,  3600, 36000, 86400, 864000 };
#define NR(list) (sizeof(list) / sizeof(*(list)))

static void ticks_put(struct ticks *t, const struct bins *b, double value)
{
	if (t->nr < NR(t->at) && value >= bins_edge(b, 0) && value <= bins_edge(b, b->nr))
		t->at[t->nr++] = value;
}

/* Chooses 1 s, 10 s, 1 min on a logarithmic scale, else multiples of a step. */
static void ticks_of_time(struct ticks *t, const struct bins *b)
{
	double first = bins_edge(b, 0), last = bins_edge(b, b->nr), step = last - first;
	size_t i = 0;

	if (b->is_log) {
		for (; i < NR(clock_tens); i++)
			ticks_put(t, b, clock_tens[i]);
		if (t->nr > 1)
			return;
		t->nr = 0;
		for (i = 0; i < NR(clock_steps); i++)
			ticks_put(t, b, clock_steps[i]);
		return;
	}
	while (i + 1 < NR(clock_steps) && clock_steps[i] * LABELS < step)
		i++;
	step = clock_steps[i];
	t->unit = last >= 172800 ? 86400
		  : last >= 7200 ? 3600
		  : last >= 120  ? 60
		  : last >= 1    ? 1
				 : 1e-3;
	for (double n = ceil(first / step - 1e-9); n * step <= last * (1 + 1e-9) && n < 1e9; n++)
		ticks_put(t, b, fmin(n * step, last));
}

static struct ticks ticks_make(const struct distribution *d)
{
	size_t step = (d->bins.nr + LABELS - 1) / LABELS;
	struct ticks t = { 0 };

	if (d->unit == UNIT_NS)
		ticks_of_time(&t, &d->bins);
	if (t.nr)
		return t;
	for (size_t i = 0; i <= d->bins.nr; i += step)
		ticks_put(&t, &d->bins, bins_edge(&d->bins, i));
	return t;
}

/* Formats a duration with one unit: 1 s, 10 min, 1.5 h. */
static void tick_format_time(char text[NUMBER_BYTES], double unit, double s)
{
	static const struct {
		double size;
		const char *name;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" }, { 1e-3, "ms" } };
	size_t i = 0;

	while (i + 1 < NR(units) && (unit > 0 ? units[i].size > unit : units[i].size > s))
		i++;
	snprintf(text, NUMBER_BYTES, "%.3g %s", s / units[i].size, units[i].name);
}

static void axis_put_label(FILE *f, const struct box *box, double share, bool is_left, bool is_odd,
			   const char *text)
{
	const char *odd = is_odd ? " class=\"odd\"" : "";

	if (is_left)
		fprintf(f, "<text%s x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", odd,
			box->x - 6, box->y + box->height * (1 - share) + 4, text);
	else
		fprintf(f, "<text%s x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", odd,
			box->x + (share > 0.97 ? box->width + RIGHT : box->width * share),
			box->y + box->height + 18, share > 0.97 ? "end" : "middle", text);
}

static void tick_format(char text[NUMBER_BYTES], const struct distribution *d,
			const struct ticks *t, size_t i)
{
	const struct edge_style style = edge_style_make(&d->bins, d->unit);

	if (d->unit == UNIT_NS && t->at[i] > 0)
		tick_format_time(text, t->unit, t->at[i]);
	else
		edge_format(text, &style, t->at[i]);
}

/* Returns the room that the labels left of a box need. */
static double axis_width(const struct distribution *d)
{
	const struct ticks t = ticks_make(d);
	char text[NUMBER_BYTES];
	double width = LEFT;

	for (size_t i = 0; i < t.nr; i++) {
		tick_format(text, d, &t, i);
		width = fmax(width, 10 + LABEL_WIDTH * (double)strlen(text));
	}
	return width;
}

/* Draws labels below @box or left of it. */
static void axis_put(FILE *f, const struct distribution *d, const struct box *box, bool is_left)
{
	const struct ticks t = ticks_make(d);
	char text[NUMBER_BYTES];

	for (size_t i = 0; i < t.nr; i++) {
		double place = bins_place(&d->bins, t.at[i]) / (double)d->bins.nr;

		tick_format(text, d, &t, i);
		axis_put_label(f, box, fmin(place, 1), is_left, i % 2, text);
	}
	fprintf(f, "<path class=\"line\" d=\"M%.1f %.1fv%.1fh%.1f\" fill=\"none\"/>\n", box->x,
		box->y, box->height, box->width);
}

void many_draw_histogram(FILE *f, const struct many_drawn *m, size_t metric,
			 const struct distribution *d)
{
	const struct box box = { LEFT, 14, WIDTH - LEFT - RIGHT, HEIGHT - BOTTOM - 14 };
	char most[NUMBER_BYTES];

	fprintf(f, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"histogram of %s\">\n",
		WIDTH, HEIGHT, d->key);
	bars_put(f, m, metric, d, &box, false);
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
		fprintf(f, "<path class=\"g0 o%u\" d=\"", shade_opacity(shade, shades));
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

static void shades_put(FILE *f, unsigned shades)
{
	unsigned from = 1;

	fputs(" Runs in a cell:", f);
	for (unsigned shade = 0; shade < shades; shade++, from *= 4) {
		fprintf(f, "%s <i class=\"g0 o%u\"></i>%u", shade ? "," : "",
			shade_opacity(shade, shades), from);
		if (shade + 1 < shades)
			fprintf(f, " to %u", 4 * from - 1);
		else
			fputs(" or more", f);
	}
	fputs(".", f);
}

/* Draws a run as a point that links to its row in the list. */
static void point_put(FILE *f, const struct many_drawn *m, size_t i, const struct box *box,
		      const struct distribution *x, const struct distribution *y)
{
	double a = many_value(m->v, 0, i), b = many_value(m->v, 1, i);
	const struct stored_run *r = &m->all->runs[i];
	char ref[RUN_CELL_BYTES], text[2][NUMBER_BYTES];

	if (isnan(a) || isnan(b))
		return;
	fprintf(f,
		"<a href=\"#r%zu\"><circle class=\"g%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\">"
		"<title>run ",
		i, m->groups->of[i],
		box->x + box->width * bins_place(&x->bins, a) / (double)x->bins.nr,
		box->y + box->height * (1 - bins_place(&y->bins, b) / (double)y->bins.nr), POINT);
	xml_write(f, run_ref_text(ref, r, m->sources), NAME_SHOWN);
	if (r->name) {
		fputs(", ", f);
		xml_write(f, r->name, NAME_SHOWN);
	}
	fprintf(f, ": %s, %s, %s</title></circle></a>\n", number_format(text[0], x->unit, a),
		number_format(text[1], y->unit, b), run_state_word(stored_run_state(r)));
}

/* Failed runs come last, above the others. */
static void points_put(FILE *f, const struct many_drawn *m, const struct box *box,
		       const struct distribution *x, const struct distribution *y)
{
	for (int is_failed = 0; is_failed < 2; is_failed++)
		for (size_t i = 0; i < m->v->nr; i++)
			if ((m->groups->of[i] == MANY_FAILED) == is_failed &&
			    many_run_is_listed(m, i))
				point_put(f, m, i, box, x, y);
}

static void scatter_put_axes(FILE *f, const struct distribution *x, const struct distribution *y,
			     const struct box *box)
{
	axis_put(f, x, box, false);
	axis_put(f, y, box, true);
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s →</text>\n",
		box->x + box->width, box->y + box->height + 1.6 * BOTTOM, many_key_words(x->key));
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\">↑ %s</text>\n", 4.0, 14.0, many_key_words(y->key));
}

int many_draw_scatter(FILE *f, const struct many_drawn *m, const struct distribution *x,
		      const struct distribution *y)
{
	const double left = axis_width(y);
	const struct box box = { left, MARGIN, WIDTH - left - MARGIN - 10, PLANE };
	const struct box above = { left, 22, box.width, MARGIN - 26 };
	const struct box beside = { left + box.width + 6, MARGIN, MARGIN - 8, PLANE };
	const struct plane_side right = { .bins = &x->bins, .metric = 0 };
	const struct plane_side up = { .bins = &y->bins, .metric = 1 };
	char count[FORMAT_BYTES];
	struct plane p;
	unsigned shades;

	if (plane_make(&p, m->v, right, up, CELLS, CELLS))
		return -ENOMEM;
	shades = plane_shades(&p);
	fprintf(f, "<p>%s run%s with both.%s", format_count(count, p.nr), p.nr == 1 ? "" : "s",
		m->has_points ? " A point leads to its run in the list." : "");
	if (!m->has_points)
		shades_put(f, shades);
	fprintf(f,
		"</p>\n<svg viewBox=\"0 0 %.0f %.0f\" role=\"%s\" aria-label=\"%s (to the right) "
		"and %s (upwards)\">\n",
		WIDTH, MARGIN + PLANE + 2 * BOTTOM,
		m->has_points || m->failed_end ? "group" : "img", x->key, y->key);
	bars_put(f, m, 0, x, &above, false);
	bars_put(f, m, 1, y, &beside, true);
	if (!m->has_points)
		plane_put(f, &p, &box, shades);
	points_put(f, m, &box, x, y);
	scatter_put_axes(f, x, y, &box);
	fputs("</svg>\n", f);
	plane_done(&p);
	return 0;
}
