// SPDX-License-Identifier: BSD-2-Clause
#include "page/figure.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/number.h"
#include "page/plot.h"
#include "page/excerpt.h"
#include "page/panel.h"
#include "base/text.h"
#include "text/format.h"
#include "text/summary_lines.h"
#include "version.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define COLUMNS 2
#define LEAST_OF_TWO 600 /* width of a figure with two columns */
#define LEAST_HEIGHT 170 /* of a panel of given width */
#define MOST_HEIGHT 320
#define SHAPE 0.65 /* height / width */
#define MARGIN 10
#define HEADER 66
#define FOOTER 26
#define COMMAND_MAX 105 /* characters */
#define LINE_MAX_CHARACTERS 150
#define COMMAND_CHARACTER 8.45 /* width in pixels */
#define LINE_CHARACTER 6.3
#define DESCRIPTION_MAX 2000

struct grid {
	unsigned columns;
	double margin, header, footer;
	double panel_width, panel_height;
	double width, height; /* of the figure */
};

static const char *member_text(const json_t *o, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text && *text ? text : otherwise;
}

static double member_number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/*
 * Returns the words of the command, quoted for a shell. The caller frees it. NULL without memory.
 */
static char *figure_make_command(const struct report_run *r)
{
	const json_t *words = json_object_get(r->meta, "command");
	char *joined = NULL, *text;
	size_t length = 0, i;
	const json_t *word;
	FILE *f;

	if (!json_array_size(words))
		return memory_strdup(json_object_get(r->meta, "attached")
					     ? "attached to what ran already"
					     : "a command (--no-args)");
	f = memory_open_memstream(&joined, &length);
	if (!f)
		return NULL;
	json_array_foreach(words, i, word)
		fwrite(json_string_value(word) ? json_string_value(word) : "", 1,
		       json_string_length(word) + 1, f);
	if (fclose(f)) {
		free(joined);
		return NULL;
	}
	text = excerpt_join(joined, length, false, DESCRIPTION_MAX);
	free(joined);
	return text;
}

static void subtitle_put(FILE *f, const struct report_run *r, const struct summary *s)
{
	char when[MOMENT_BYTES], text[FORMAT_BYTES], end[RUN_END_BYTES];

	fprintf(f, "%.64s, %s: %s wall", member_text(r->meta, "host", "host not known"),
		format_moment(when, r->start_epoch_ns, true), format_seconds(text, s->wall_ns));
	if (summary_has_total(s, M_cpu))
		fprintf(f, ", %s CPU", format_seconds(text, s->total.value[M_cpu]));
	if (memory_peak_bytes(s))
		fprintf(f, ", peak %s resident", format_bytes(text, memory_peak_bytes(s)));
	if (s->limit.is_end)
		fprintf(f, ", ended by the limit %s", s->limit.text);
	else if (s->has_status)
		fprintf(f, ", %s", format_run_end(end, s));
	if (!s->complete)
		fputs(r->is_cut ? "; CUT OFF" : "; INCOMPLETE", f);
}

/* Texts of a figure, owned. */
struct figure_texts {
	char *command;
	char *about;    /* host, start and totals of the run */
	char *slowdown; /* "" if there is none */
};

static int figure_texts_make(struct figure_texts *t, struct report_run *r)
{
	struct summary total = { 0 };
	struct answer answer;
	size_t length;
	FILE *f;

	*t = (struct figure_texts){ .command = figure_make_command(r) };
	report_answer(&answer, r, &total);
	t->slowdown = answer_part_make(answer_slowdown_text, &answer);
	f = memory_open_memstream(&t->about, &length);
	if (f)
		subtitle_put(f, r, &total);
	summary_done(&total);
	return f && !fclose(f) && t->command && t->slowdown ? 0 : -ENOMEM;
}

static void figure_texts_done(struct figure_texts *t)
{
	free(t->command);
	free(t->about);
	free(t->slowdown);
}

static void figure_put_heading(FILE *f, const struct grid *g, const struct figure_texts *t)
{
	double room = g->width - 4 * MARGIN;

	fprintf(f,
		"<text x=\"%d\" y=\"28\" font-family=\"monospace\" font-size=\"14\" "
		"font-weight=\"600\" fill=\"#1b2126\">",
		2 * MARGIN);
	xml_write(f, t->command, (size_t)fmin(COMMAND_MAX, room / COMMAND_CHARACTER));
	fprintf(f, "</text>\n<text x=\"%d\" y=\"48\" font-size=\"12\">", 2 * MARGIN);
	xml_write(f, t->about, (size_t)fmin(LINE_MAX_CHARACTERS, room / LINE_CHARACTER));
	fputs("</text>\n", f);
	if (!*t->slowdown)
		return;
	fprintf(f, "<text x=\"%d\" y=\"65\" font-size=\"12\" font-weight=\"600\" fill=\"%s\">",
		2 * MARGIN, colour_light(COLOUR_WARN));
	xml_write(f, t->slowdown, (size_t)fmin(LINE_MAX_CHARACTERS, room / LINE_CHARACTER));
	fputs("</text>\n", f);
}

static void figure_put_header(FILE *f, const struct grid *g, const struct figure_layout *layout,
			      const struct figure_texts *t)
{
	const char *unit = layout->width > 0 ? "mm" : "";
	double scale = layout->width > 0 ? FIGURE_PIXELS_PER_MM : 1;

	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.6g %.6g\" "
		"width=\"%.6g%s\" "
		"height=\"%.6g%s\" role=\"img\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
		"sans-serif\" font-size=\"11\" fill=\"%s\" stroke-linejoin=\"round\" "
		"stroke-linecap=\"round\">\n<title>",
		g->width, g->height, g->width / scale, unit, g->height / scale, unit,
		colour_light(COLOUR_QUIET));
	xml_write(f, t->command, COMMAND_MAX);
	fputs("</title>\n<desc>", f);
	xml_write(f, t->command, DESCRIPTION_MAX);
	fputs("; ", f);
	xml_write(f, t->about, LINE_MAX_CHARACTERS);
	fputs(*t->slowdown ? "; " : "", f);
	xml_write(f, t->slowdown, DESCRIPTION_MAX);
	fprintf(f, "</desc>\n<rect width=\"%.6g\" height=\"%.6g\" fill=\"#fff\"/>\n", g->width,
		g->height);
	if (g->header > 0)
		figure_put_heading(f, g, t);
}

static bool event_is_severe(const char *event)
{
	return !strcmp(event, "oom_kill") || !strcmp(event, "limit");
}

/* Returns a mark for each event with a time. The caller frees it. NULL without memory. */
static struct panel_mark *figure_make_marks(const struct report_run *r, size_t *nr)
{
	struct panel_mark *marks = memory_calloc(json_array_size(r->events) + 1, sizeof(*marks));
	const json_t *event;
	size_t i;

	*nr = 0;
	json_array_foreach(r->events, i, event) {
		const char *name = member_text(event, "event", "");

		if (!marks || !json_is_number(json_object_get(event, "time")))
			continue;
		marks[(*nr)++] = (struct panel_mark){
			.seconds = member_number(event, "time") - (double)r->start_epoch_ns / 1e9,
			.text = member_text(event, "text", name),
			.style = event_is_severe(name) ? MARK_SEVERE : MARK_PLAIN,
			.is_named = !strcmp(name, "mark"),
		};
	}
	return marks;
}

/* Returns the times in which the run stood still. The caller frees them. NULL without memory. */
static struct panel_spell *figure_make_spells(const struct report_run *r, double wall, size_t *nr)
{
	struct panel_spell *spells = memory_calloc(json_array_size(r->events) + 1, sizeof(*spells));
	const json_t *event;
	bool is_open = false;
	size_t i;

	*nr = 0;
	json_array_foreach(r->events, i, event) {
		const char *name = member_text(event, "event", "");
		const bool is_end = !strcmp(name, "resumed");
		const double start = (double)r->start_epoch_ns / 1e9;

		if (!spells || (!is_end && strcmp(name, "stalled") != 0))
			continue;
		if (is_end && is_open)
			spells[*nr - 1].end = member_number(event, "time") - start;
		else if (!is_end)
			spells[(*nr)++] =
				(struct panel_spell){ member_number(event, "since_time") - start,
						      wall };
		is_open = !is_end;
	}
	return spells;
}

struct panel_labels {
	char peak[160];
};

static void panel_set_peak(struct panel *p, struct panel_labels *t, const struct report_run *r)
{
	bool is_exact = json_is_number(json_object_get(r->summary, "rss_peak_exact_bytes"));
	const struct report_process *largest = processes_find_largest(&r->processes);
	char bytes[AXIS_TEXT], at[AXIS_TEXT];
	int n;

	p->point = member_number(r->summary, is_exact ? "rss_peak_exact_bytes" : "rss_peak_bytes");
	p->point_seconds = member_number(r->summary, is_exact ? "rss_peak_exact_elapsed_seconds"
							      : "rss_peak_elapsed_seconds");
	n = snprintf(t->peak, sizeof(t->peak), "peak %s at %s%s",
		     axis_format_value(bytes, CHART_BYTES, p->point),
		     axis_format_time(at, p->point_seconds, p->wall / 1000, p->wall),
		     p->wall < 60 ? " s" : "");
	if (largest && p->width >= PANEL_NARROW)
		snprintf(t->peak + n, sizeof(t->peak) - (size_t)n, "; %.16s (%d) %s",
			 largest->p.comm, largest->p.pid,
			 axis_format_value(bytes, CHART_BYTES, (double)largest->p.rss_peak_bytes));
	p->point_text = t->peak;
}

static void panel_set_extremes(struct panel *p, struct panel_labels *t, const struct report_run *r,
			       size_t i)
{
	p->point = 0;
	if (chart_specs[i].unit == CHART_MEMORY)
		panel_set_peak(p, t, r);
}

bool figure_has_panel(const struct report_run *r, size_t i)
{
	for (unsigned k = 0; k < chart_specs[i].nr; k++)
		if (chart_specs[i].curve[k].style != CURVE_HIDDEN &&
		    charts_has_curve(&r->charts, &chart_specs[i].curve[k]))
			return true;
	return false;
}

static bool panel_is_shown(const struct report_run *r, const struct figure_layout *layout, size_t i)
{
	return figure_has_panel(r, i) && (layout->panel == FIGURE_ALL || layout->panel == i);
}

/* @lanes is the height of the lanes. */
static void grid_make(struct grid *g, const struct report_run *r,
		      const struct figure_layout *layout, double lanes)
{
	bool is_one = layout->panel != FIGURE_ALL;
	size_t panels = 0, rows;

	for (size_t i = 0; i < NR_CHARTS; i++)
		panels += panel_is_shown(r, layout, i);
	*g = (struct grid){ .columns = is_one ? 1 : COLUMNS,
			    .panel_width = PANEL_WIDTH,
			    .panel_height = PANEL_HEIGHT };
	if (!is_one) {
		g->margin = MARGIN;
		g->header = HEADER;
		g->footer = FOOTER;
	}
	if (layout->width > 0) {
		g->columns = is_one || layout->width < LEAST_OF_TWO ? 1 : COLUMNS;
		g->panel_width = (layout->width - 2 * g->margin) / g->columns;
		g->panel_height = fmax(LEAST_HEIGHT, fmin(MOST_HEIGHT, g->panel_width * SHAPE));
	}
	g->panel_height += lanes;
	rows = (panels + g->columns - 1) / g->columns;
	g->width = g->columns * g->panel_width + 2 * g->margin;
	g->height = g->header + (double)rows * g->panel_height + g->footer;
}

static bool figure_has_limits(const struct report_run *r, const struct figure_layout *layout,
			      struct panel p)
{
	struct panel_labels t;
	bool has = false;

	for (size_t i = 0; !has && i < NR_CHARTS; i++) {
		if (!panel_is_shown(r, layout, i))
			continue;
		panel_set_extremes(&p, &t, r, i);
		has = panel_has_limits(&p, r, i);
	}
	return has;
}

static int figure_put_panels(FILE *f, const struct report_run *r,
			     const struct figure_layout *layout, const struct grid *g,
			     const struct bands *bands)
{
	const double wall = fmax(member_number(r->summary, "wall_seconds"),
				 fmax((double)r->charts.last_elapsed_ns / 1e9, 1e-6));
	size_t nr_marks, nr_spells, at = 0;
	__cleanup(freep) struct panel_mark *marks = figure_make_marks(r, &nr_marks);
	__cleanup(freep) struct panel_spell *spells = figure_make_spells(r, wall, &nr_spells);
	struct panel p = { .width = g->panel_width,
			   .height = g->panel_height,
			   .wall = wall,
			   .bands = bands,
			   .marks = marks,
			   .nr_marks = nr_marks,
			   .spells = spells,
			   .nr_spells = nr_spells,
			   .missing = &r->missing };
	struct panel_labels t;
	int err = marks && spells ? 0 : -ENOMEM;

	p.has_limits = figure_has_limits(r, layout, p);
	for (size_t i = 0; !err && i < NR_CHARTS; i++) {
		size_t row = at / g->columns;

		if (!panel_is_shown(r, layout, i))
			continue;
		p.x = g->margin + (double)(at % g->columns) * p.width;
		p.y = g->header + (double)row * p.height;
		panel_set_extremes(&p, &t, r, i);
		err = panel_write(f, &p, r, i);
		at++;
	}
	return err;
}

static int figure_put(FILE *f, const struct report_run *r, const struct figure_layout *layout,
		      const struct figure_texts *t)
{
	struct bands bands;
	struct grid g;
	int err = bands_make(&bands, r);

	grid_make(&g, r, layout, bands_height(&bands));
	figure_put_header(f, &g, layout, t);
	if (!err)
		err = figure_put_panels(f, r, layout, &g, &bands);
	bands_done(&bands);
	if (g.footer > 0)
		fprintf(f, "<text x=\"%.6g\" y=\"%.6g\" text-anchor=\"end\">bpfmon %s</text>\n",
			g.width - 2 * MARGIN, g.height - 10, BPFMON_VERSION);
	fputs("</svg>\n", f);
	return err;
}

void figure_measure(const struct report_run *r, const struct figure_layout *layout, double *width,
		    double *height)
{
	struct bands bands;
	struct grid g;

	bands_make(&bands, r); /* ignore errors, as figure_write() will fail */
	grid_make(&g, r, layout, bands_height(&bands));
	bands_done(&bands);
	*width = g.width;
	*height = g.height;
}

int figure_write(FILE *f, struct report_run *r, const struct figure_layout *layout)
{
	struct figure_texts t;
	int err = figure_texts_make(&t, r);

	if (!err)
		err = figure_put(f, r, layout, &t);
	figure_texts_done(&t);
	return err;
}
