// SPDX-License-Identifier: BSD-2-Clause
#include "report/figure.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "report/axis.h"
#include "report/excerpt.h"
#include "report/panel.h"
#include "report/xml.h"
#include "view/format.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define COLUMNS 2
#define MARGIN 10
#define HEADER 66
#define FOOTER 26
#define FIGURE_WIDTH (COLUMNS * PANEL_WIDTH + 2 * MARGIN)
#define COMMAND_MAX 105 /* characters */
#define LINE_MAX_CHARACTERS 150
#define DESCRIPTION_MAX 2000

static const char *member_text(const json_t *o, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text && *text ? text : otherwise;
}

static double member_number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* The words of the command, quoted as for a shell; owned by the caller, NULL without memory. */
static char *figure_make_command(const struct report_run *r)
{
	const json_t *words = json_object_get(r->meta, "command");
	char *joined = NULL, *text;
	size_t length = 0, i;
	const json_t *word;
	FILE *f;

	if (!json_array_size(words))
		return strdup(json_object_get(r->meta, "attached") ? "attached to what ran already"
								   : "a command (--no-args)");
	f = open_memstream(&joined, &length);
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

static void figure_put_end(FILE *f, const json_t *summary)
{
	const json_t *code = json_object_get(summary, "exit_code"),
		     *sig = json_object_get(summary, "signal");

	if (json_is_integer(sig))
		fprintf(f, ", killed by signal %d", (int)json_integer_value(sig));
	else if (json_is_integer(code))
		fprintf(f, ", exit %d", (int)json_integer_value(code));
}

/* Host, start and totals of the run; owned by the caller, NULL without memory. */
static char *figure_make_subtitle(const struct report_run *r)
{
	time_t start = (time_t)(r->start_epoch_ns / 1000000000);
	char when[40] = "", bytes[FORMAT_BYTES], wall[FORMAT_BYTES], cpu[FORMAT_BYTES];
	const json_t *s = r->summary;
	struct tm tm;
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (!f)
		return NULL;
	if (gmtime_r(&start, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fprintf(f, "%.64s, %s: %s wall", member_text(r->meta, "host", "host not known"), when,
		format_seconds(wall, number_clamp(floor(member_number(s, "wall_seconds") * 1e9))));
	if (json_object_get(s, "cpu_seconds"))
		fprintf(f, ", %s CPU",
			format_seconds(cpu,
				       number_clamp(floor(member_number(s, "cpu_seconds") * 1e9))));
	if (json_object_get(s, "rss_peak_bytes"))
		fprintf(f, ", peak %s resident",
			format_bytes(bytes, (uint64_t)member_number(s, "rss_peak_bytes")));
	figure_put_end(f, s);
	if (!json_is_true(json_object_get(s, "complete")))
		fputs(r->is_cut ? "; CUT OFF" : "; INCOMPLETE", f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static void figure_put_header(FILE *f, double height, const char *command, const char *about)
{
	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
		"height=\"%.0f\" role=\"img\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
		"sans-serif\" font-size=\"11\" fill=\"#5a6670\" stroke-linejoin=\"round\" "
		"stroke-linecap=\"round\">\n<title>",
		FIGURE_WIDTH, height, FIGURE_WIDTH, height);
	xml_write(f, command, COMMAND_MAX);
	fputs("</title>\n<desc>", f);
	xml_write(f, command, DESCRIPTION_MAX);
	fputs("; ", f);
	xml_write(f, about, LINE_MAX_CHARACTERS);
	fprintf(f,
		"</desc>\n<rect width=\"%d\" height=\"%.0f\" fill=\"#fff\"/>\n"
		"<text x=\"%d\" y=\"28\" font-family=\"monospace\" font-size=\"14\" "
		"font-weight=\"600\" fill=\"#1b2126\">",
		FIGURE_WIDTH, height, 2 * MARGIN);
	xml_write(f, command, COMMAND_MAX);
	fprintf(f, "</text>\n<text x=\"%d\" y=\"48\" font-size=\"12\">", 2 * MARGIN);
	xml_write(f, about, LINE_MAX_CHARACTERS);
	fputs("</text>\n", f);
}

static bool event_is_severe(const char *event)
{
	return !strcmp(event, "oom_kill") || !strcmp(event, "lost") || !strcmp(event, "limit");
}

/* A mark for each event that has a time; owned by the caller, NULL without memory. */
static struct panel_mark *figure_make_marks(const struct report_run *r, size_t *nr)
{
	struct panel_mark *marks = calloc(json_array_size(r->events) + 1, sizeof(*marks));
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
		};
	}
	return marks;
}

/* What the labels of a panel point to. */
struct panel_labels {
	char cpus[AXIS_TEXT], peak[160];
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
	if (largest)
		snprintf(t->peak + n, sizeof(t->peak) - (size_t)n, "; %.16s (%d) %s",
			 largest->p.comm, largest->p.pid,
			 axis_format_value(bytes, CHART_BYTES, (double)largest->p.rss_peak_bytes));
	p->point_text = t->peak;
}

/* Sets what chart @i shows beside curves and events: the machine's cores, the peak of memory. */
static void panel_set_extremes(struct panel *p, struct panel_labels *t, const struct report_run *r,
			       size_t i)
{
	p->limit = p->point = 0;
	if (chart_specs[i].unit == CHART_CORES) {
		p->limit = member_number(json_object_get(r->meta, "system"), "cpus");
		snprintf(t->cpus, sizeof(t->cpus), "%.0f available", p->limit);
		p->limit_text = t->cpus;
	} else if (chart_specs[i].unit == CHART_BYTES) {
		panel_set_peak(p, t, r);
	}
}

static bool chart_has_curves(const struct report_run *r, size_t i)
{
	for (unsigned k = 0; k < chart_specs[i].nr; k++)
		if (chart_specs[i].curve[k].style != CURVE_HIDDEN &&
		    charts_has_curve(&r->charts, &chart_specs[i].curve[k]))
			return true;
	return false;
}

static int figure_put_panels(FILE *f, const struct report_run *r)
{
	size_t nr_marks, row, at = 0;
	__cleanup(freep) struct panel_mark *marks = figure_make_marks(r, &nr_marks);
	struct panel p = { .marks = marks, .nr_marks = nr_marks };
	struct panel_labels t;
	int err = marks ? 0 : -ENOMEM;

	p.wall = fmax(member_number(r->summary, "wall_seconds"),
		      fmax((double)r->charts.last_elapsed_ns / 1e9, 1e-6));
	for (size_t i = 0; !err && i < NR_CHARTS; i++) {
		if (!chart_has_curves(r, i))
			continue;
		p.x = MARGIN + (double)(at % COLUMNS) * PANEL_WIDTH;
		row = at / COLUMNS;
		p.y = HEADER + (double)row * PANEL_HEIGHT;
		panel_set_extremes(&p, &t, r, i);
		err = panel_write(f, &p, &r->charts, i);
		at++;
	}
	return err;
}

static int figure_put(FILE *f, const struct report_run *r, const char *command, const char *about)
{
	size_t panels = 0, rows;
	double height;
	int err;

	for (size_t i = 0; i < NR_CHARTS; i++)
		panels += chart_has_curves(r, i);
	rows = (panels + COLUMNS - 1) / COLUMNS;
	height = HEADER + (double)rows * PANEL_HEIGHT + FOOTER;
	figure_put_header(f, height, command, about);
	err = figure_put_panels(f, r);
	fprintf(f, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">bpfmon %s</text>\n</svg>\n",
		FIGURE_WIDTH - 2 * MARGIN, height - 10, BPFMON_VERSION);
	return err;
}

int figure_write(FILE *f, const struct report_run *r)
{
	char *command = figure_make_command(r), *about = figure_make_subtitle(r);
	int err = command && about ? figure_put(f, r, command, about) : -ENOMEM;

	free(command);
	free(about);
	return err;
}
