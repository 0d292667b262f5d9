// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon report RUN [-o PAGE]: draws a run as a page for a browser, or as a picture. */
#include "base/memory.h"
#include "base/cleanup.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/progress.h"
#include "bpfmon/cmd_list.h"
#include "bpfmon/picture.h"
#include "bpfmon/roles/observer.h"
#include "bpfmon/subcommands.h"
#include "bpfmon/whole_file.h"
#include "options/common_options.h"
#include "options/completion.h"
#include "options/option_values.h"
#include "page/figure.h"
#include "page/many_page.h"
#include "page/page.h"
#include "page/page_run.h"
#include "store/named_run.h"
#include "store/stores.h"
#include "study/values.h"
#include "text/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* bpfmon report --many: all runs that match filters, on one page. */
struct report_many_options {
	bool is_given;
	struct many_metrics metrics;
	struct filter_options filter;
};

/*
 * Parses the metrics for a struct report_many_options; NULL selects the default ones. Returns 0 or
 * -EINVAL.
 */
int report_many_parse(void *options, const char *text)
{
	struct report_many_options *o = options;
	int err =
		many_metrics_set(&o->metrics, text ? text : "wall,peak,cpu,read_bytes,write_bytes");

	if (!err)
		o->is_given = true;
	return err;
}

/* clang-format off */
static const struct option_row report_many_rows[] = {
	{ "many", 0, "METRIC,...", true, "Page of all matching runs, with histograms", report_many_parse, 0, GUARD_NONE },
	{ 0 }
};
/* clang-format on */

struct report_options {
	struct common_options common; /* common.words: the run */
	bool force, quiet;
	const char *path, *format; /* NULL if not given */
	const char *panel;         /* name of a chart; NULL: all */
	struct figure_layout layout;
	struct store_options store;
	struct report_many_options many;
};

struct report_format {
	const char *name; /* as typed, and as the extension of files */
	bool is_picture;
	int (*write)(FILE *f, struct report_run *r, const struct report_options *o,
		     const char *label);
};

static int panel_parse(void *name, const char *text)
{
	return chart_find(text) < NR_CHARTS
		       ? text_parse(name, text)
		       : value_refuse("cpu, memory, gpu, gpu-memory, io, io-kinds, network, power, "
				      "processes, waits, faults, switches or pressure");
}

static int width_parse(void *pixels, const char *text)
{
	static const struct {
		const char *name;
		double pixels;
	} units[] = { { "mm", FIGURE_PIXELS_PER_MM },
		      { "cm", 10 * FIGURE_PIXELS_PER_MM },
		      { "in", 96 },
		      { "pt", 96 / 72.0 },
		      { "px", 1 } };
	double v;
	char *end;

	value_refuse("a length from 48mm to 2000mm, as in 85mm, 6in or 700px");
	if (decimal_parse(text, &v, &end))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		v *= units[i].pixels;
		if (!(v >= FIGURE_LEAST && v <= FIGURE_MOST))
			return -EINVAL;
		*(double *)pixels = v;
		return 0;
	}
	return -EINVAL;
}

static int report_write_page(FILE *f, struct report_run *r, const struct report_options *o,
			     const char *label)
{
	struct page_data data = { 0 };
	int err = report_write_data(r, label, &data);

	(void)o;
	if (!err)
		err = page_write(f, &data);
	jsonw_done(&data.json);
	return err;
}

static int report_write_figure(FILE *f, struct report_run *r, const struct report_options *o,
			       const char *label)
{
	(void)label;
	return figure_write(f, r, &o->layout);
}

static const struct report_format formats[] = {
	{ "html", false, report_write_page },
	{ "svg", true, report_write_figure },
	{ "png", true, report_write_figure },
	{ "pdf", true, report_write_figure },
};
#define NR_FORMATS (sizeof(formats) / sizeof(*formats))

static int report_format_parse(void *name, const char *text)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (!strcmp(text, formats[i].name))
			return text_parse(name, text);
	return value_refuse("html, svg, png or pdf");
}

/* clang-format off */
#define AT(field) offsetof(struct report_options, field)

static const struct option_row report_rows[] = {
	{ "output", 'o', "PATH", false, "Write the report to PATH, - for stdout (default: RUN.html)", text_parse, AT(path), GUARD_ENVIRONMENT },
	{ "format", 'f', "FORMAT", false, "html (default), or the charts as a picture: svg, png or pdf", report_format_parse, AT(format), GUARD_NONE },
	{ "panel", 0, "NAME", false, "Draw one: cpu memory gpu power io processes waits faults", panel_parse, AT(panel), PROJECT_MAY },
	{ "width", 0, "LENGTH", false, "Width of the picture: 85mm, 6in, 700px (48mm to 2m)", width_parse, AT(layout.width), PROJECT_MAY },
	{ 0 }
};
/* clang-format on */

static const struct option_group report_groups[] = {
	{ force_rows, AT(force), false },      { report_rows, 0, false },
	{ report_many_rows, AT(many), false }, { filter_rows, AT(many.filter), false },
	{ silent_rows, AT(quiet), false },     { store_rows, AT(store), true },
	{ node_rows, AT(store), false },       { node_agent_rows, AT(store), true },
	{ common_rows, AT(common), false },    { 0 },
};

static void report_help(void)
{
	puts("Usage: bpfmon report [OPTIONS] [RUN]\n"
	     "       bpfmon report --many[=METRIC,...] [OPTIONS] [NAME...]\n"
	     "\n"
	     "Makes an HTML page of a run, with charts, processes over time, programs and events. "
	     "The\n"
	     "page is a single file and needs no network. RUN is a number from `bpfmon list`, a "
	     "name\n"
	     "(its last run; align~1: the one before), the beginning of a UUID, or a file of JSON\n"
	     "Lines, which may be truncated (-: stdin). The default is the last run.\n"
	     "\n"
	     "With --many, makes a page of all runs that match the filters, with NAMEs of those\n"
	     "called so. Its default name is runs.html.\n");
	options_print(&subcommand_report);
	puts("\n"
	     "Without --format, the extension of --output selects the format: .html, .svg, .png "
	     "or\n"
	     ".pdf. PNG and PDF need rsvg-convert or chromium. --width does not scale the text of "
	     "a\n"
	     "picture.\n"
	     "\n"
	     "Exit status: 0: success, 2: usage error, or no such run.");
}

#define WHAT_BYTES 1000

static void many_describe(char what[WHAT_BYTES], const struct run_filter *f, char *const *names)
{
	const struct {
		const char *of, *text;
	} parts[] = {
		{ "name", f->name },       { "span", f->span }, { "job", f->job },
		{ "command", f->command }, { "host", f->host }, { "user", f->user },
	};
	size_t n = (size_t)snprintf(what, WHAT_BYTES, "runs"), before = n;
	char since[MOMENT_BYTES];

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && n < WHAT_BYTES; i++)
		if (parts[i].text)
			n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", %s %s", parts[i].of,
					      parts[i].text);
	for (; *names && n < WHAT_BYTES; names++)
		n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", name %s", *names);
	for (size_t i = 0; i < f->nr_tags && n < WHAT_BYTES; i++)
		n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", tag %s", f->tags[i]);
	for (size_t i = 0; i < f->nr_words && n < WHAT_BYTES; i++)
		n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", with %s", f->words[i]);
	if (f->state != ANY_STATE && n < WHAT_BYTES)
		n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", %s", run_state_word(f->state));
	if (f->since_ns && n < WHAT_BYTES)
		n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", since %s",
				      format_moment(since, f->since_ns, false));
	if (n == before)
		snprintf(what, WHAT_BYTES, "all runs");
}

static int many_render(const struct report_options *o, const struct many_values *v,
		       const struct stored_runs *all, const struct stores *s, char **text,
		       size_t *length)
{
	const struct run_filter filter = filter_get(&o->many.filter);
	FILE *f = memory_open_memstream(text, length);
	char what[WHAT_BYTES];
	int err = -ENOMEM;

	if (f) {
		many_describe(what, &filter, o->common.words);
		err = many_page_write(f, what, v, all, (const char *const *)s->prefix);
		if (fclose(f) && !err)
			err = -ENOMEM;
	}
	if (err)
		log_error("out of memory for the page of %zu runs", all->nr);
	return err;
}

/*
 * Makes the page in memory, *@text, which the caller frees in any case. Returns 0, or a negative
 * errno after a message.
 */
static int report_many_make(const struct report_options *o, char **text, size_t *length)
{
	const struct run_filter filter = filter_get(&o->many.filter);
	struct stored_runs all = { 0 };
	struct many_values v = { 0 };
	struct stores s = { 0 };
	int err = stores_find(&s, &o->store);

	if (!err)
		err = stores_query(&s, &filter, &all);
	if (!err)
		err = run_words_select(&s, o->common.words, &all);
	if (!err && !all.nr) {
		log_error("no run matches the filters; see '%s' with the same filters",
			  stores_list_command(o->store.of_node));
		err = -ENOENT;
	}
	if (!err)
		err = many_read(&v, &o->many.metrics, &s, &all);
	if (!err)
		err = many_render(o, &v, &all, &s, text, length);
	many_values_done(&v);
	stored_runs_done(&all);
	stores_done(&s);
	return err;
}

static int report_make_many(const struct report_options *o, const struct report_format *format)
{
	const char *path = o->path ? o->path : "runs.html";
	__cleanup(freep) char *text = NULL;
	size_t length;
	int err;

	if (format->is_picture) {
		log_error("--many makes an HTML page, not a picture");
		return -EINVAL;
	}
	err = report_many_make(o, &text, &length);
	if (!err)
		err = whole_file_write("report", path, o->force, text, length);
	if (!err && !o->quiet)
		whole_file_announce("report", path, NULL);
	return err;
}

static bool path_ends_in(const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);

	return n > m && path[n - m - 1] == '.' && !strcmp(path + n - m, ending);
}

static const struct report_format *report_find_format(const struct report_options *o)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (o->format ? !strcmp(o->format, formats[i].name)
			      : o->path && path_ends_in(o->path, formats[i].name))
			return &formats[i];
	return NULL;
}

/*
 * Returns the given format, else that of the path's extension, else the page, or a picture of a
 * part. Returns NULL after a message.
 */
static const struct report_format *report_choose_format(const struct report_options *o)
{
	const struct report_format *f = report_find_format(o);
	bool is_part = o->panel || o->layout.width > 0;

	if (!f && o->path && path_extension(o->path)) {
		log_error("--output does not accept '%s': use the extension .html, .svg, .png or "
			  ".pdf, or name the format, as in -f html",
			  o->path);
		return NULL;
	}
	f = f ? f : &formats[is_part];
	if (is_part && !f->is_picture) {
		log_error("--panel and --width need a picture: -f svg, png or pdf");
		return NULL;
	}
	return f;
}

/*
 * Derives the path: run.jsonl -> run.html, 42 -> 42.html; for the last run, its number. The caller
 * frees it. Returns NULL after a message.
 */
static char *report_choose_path(const struct report_options *o, const struct report_format *format,
				const char *label)
{
	const char *typed = o->common.words[0];
	const char *run = typed && *typed != '~' ? typed : label;
	size_t n = strlen(run);
	char *path = NULL;

	if (o->path)
		path = memory_strdup(o->path);
	else if (memory_asprintf(&path, "%.*s.%s", (int)(path_ends_in(run, "jsonl") ? n - 6 : n),
				 run, format->name) < 0)
		path = NULL;
	if (!path)
		log_error("out of memory for the report's name");
	return path;
}

static int report_load(struct report_run *r, const struct report_options *o, char *label)
{
	struct source source;
	int err = named_run_open(&source, &o->store, o->common.words[0], label);

	if (err)
		return err; /* already reported */
	err = report_open(r);
	if (!err)
		err = report_read(r, &source);
	if (err == -ENODATA)
		log_error("'%s' has no samples to draw", label);
	else if (err)
		log_error("cannot read '%s': %s", label, source_why(&source, err));
	source_close(&source);
	return err;
}

static int panel_check(const struct report_run *r, const struct report_options *o,
		       const char *label)
{
	char there[NR_CHARTS * 16] = ""; /* room for the names of all */
	size_t n = 0;

	if (!o->panel || figure_has_panel(r, o->layout.panel))
		return 0;
	for (size_t i = 0; i < NR_CHARTS; i++)
		if (figure_has_panel(r, i))
			n += (size_t)snprintf(there + n, sizeof(there) - n, "%s%s", n ? ", " : "",
					      chart_specs[i].name);
	log_error("'%s' has no data for the panel '%s'; it has data for %s", label, o->panel,
		  there);
	return -ENOENT;
}

static int report_render(struct report_run *r, const struct report_format *format,
			 const struct report_options *o, const char *label, char **text,
			 size_t *length)
{
	FILE *f = memory_open_memstream(text, length);
	int err = f ? format->write(f, r, o, label) : -ENOMEM;

	if (f && fclose(f) && !err)
		err = -ENOMEM;
	if (err)
		log_error("cannot make the report of '%s': %s", label, strerror(-err));
	return err;
}

#define SCREEN_SCALE 2 /* PNG pixels per 1/96 inch */
#define PRINT_SCALE (300 / 96.0)

/* Replaces the SVG @text by a conversion of an external program. */
static int report_convert(const struct report_run *r, const struct report_format *format,
			  const struct report_options *o, const char *path, char **text,
			  size_t *length)
{
	struct picture p = { .format = format->name };
	char *drawn;
	int err;

	/* printer density if a width for print is given, else that of a high-density screen */
	p.scale = o->layout.width > 0 ? PRINT_SCALE : SCREEN_SCALE;
	figure_measure(r, &o->layout, &p.width, &p.height);
	err = picture_draw(&p, path, *text, *length, &drawn, length);
	if (!err) {
		free(*text);
		*text = drawn;
	} else {
		free(drawn);
	}
	return err;
}

static int report_put(const struct report_run *r, const struct report_options *o,
		      const struct report_format *format, const char *path, char **text,
		      size_t length)
{
	bool is_drawn = format->is_picture && strcmp(format->name, "svg") != 0;
	int err = is_drawn ? report_convert(r, format, o, path, text, &length) : 0;

	if (!err)
		err = whole_file_write("report", path, o->force, *text, length);
	if (!err && !o->quiet)
		whole_file_announce("report", path, NULL);
	return err;
}

static int report_make(const struct report_options *o, const struct report_format *format)
{
	__cleanup(freep) char *text = NULL;
	char label[RUN_LABEL_BYTES], *path;
	static struct report_run run; /* 25 KiB, too large for the stack */
	size_t length;
	int err;

	progress_begin("reading the run", "lines", 0);
	err = report_load(&run, o, label);
	if (!err)
		err = panel_check(&run, o, label);
	if (!err)
		err = report_render(&run, format, o, label, &text, &length);
	progress_end();
	if (!err) {
		path = report_choose_path(o, format, label);
		err = path ? report_put(&run, o, format, path, &text, length) : -ENOMEM;
		free(path);
	}
	report_close(&run);
	return err;
}

static int cmd_report(int argc, char **argv)
{
	const struct report_format *format;
	struct report_options o;
	int go_on = options_begin(&subcommand_report, &o, argc, argv);

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (!o.many.is_given && !o.path && o.common.words[0] && !strcmp(o.common.words[0], "-")) {
		log_error("the run comes from stdin; give the path of the report with -o");
		return EXIT_USAGE;
	}
	o.layout.panel = o.panel ? chart_find(o.panel) : FIGURE_ALL;
	format = report_choose_format(&o);
	if (format && o.many.is_given)
		return report_make_many(&o, format) ? EXIT_USAGE : 0;
	return !format || report_make(&o, format) ? EXIT_USAGE : 0;
}

static int report_parse(void *options, int argc, char **argv)
{
	struct report_options *o = options;
	int err = options_parse(&subcommand_report, options, argc, argv);

	if (err || o->many.is_given)
		return err;
	if (filter_is_given(&o->many.filter) && !o->common.help && !o->common.version) {
		log_error("filters need --many; for one run use, for example: bpfmon report align");
		return -EINVAL;
	}
	return words_check_most(options, 1);
}

const struct subcommand subcommand_report = {
	.name = "report",
	.aliases = "plot html",
	.summary = "make an HTML page or a picture of a run",
	.part = PART_READS,
	.words = { .most = ANY_WORDS, .offer = completion_offer_runs },
	.run = cmd_report,
	.groups = report_groups,
	.options_bytes = sizeof(struct report_options),
	.parse = report_parse,
	.help = report_help,
};
