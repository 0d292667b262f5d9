// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon report RUN [-o PAGE]: a run as one page for a browser, or as one picture. */
#include "options/option_values.h"
#include "bpfmon/report_make.h"
#include "bpfmon/whole_file.h"

#include "base/exit_status.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "options/completion.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <string.h>

static int panel_parse(void *name, const char *text)
{
	return chart_find(text) < NR_CHARTS ? text_parse(name, text) : -EINVAL;
}

/* A length with its unit. */
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

/* clang-format off */
#define AT(field) offsetof(struct report_options, field)

static const struct option_row report_rows[] = {
	{ "output", 'o', "PATH", false, "Where the report goes, - for stdout (default: RUN.html)", text_parse, AT(path), GUARD_ENVIRONMENT },
	{ "format", 'f', "FORMAT", false, "html (default); svg, png, pdf: the charts as one picture", report_format_parse, AT(format), GUARD_NONE },
	{ "panel", 0, "NAME", false, "One: cpu memory io processes faults switches pressure", panel_parse, AT(panel), PROJECT_MAY },
	{ "width", 0, "LENGTH", false, "Of the picture: 85mm, 6in, 700px (from 48mm to 2m)", width_parse, AT(layout.width), PROJECT_MAY },
	{ 0 }
};
/* clang-format on */

static const struct option_group report_groups[] = {
	{ force_rows, AT(force), false },
	{ report_rows, 0, false },
	{ report_many_rows, AT(many), false },
	{ filter_rows, AT(many.filter), false },
	{ silent_rows, AT(quiet), false },
	{ store_rows, AT(store), true },
	{ node_rows, AT(store), false },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int report_parse(void *options, int argc, char **argv)
{
	struct report_options *o = options;
	int err = options_parse(&subcommand_report, options, argc, argv);

	if (err)
		return err;
	if (o->many.is_given)
		return report_many_take_words(&o->many, o->common.words);
	if (filter_is_given(&o->many.filter) && !o->common.help && !o->common.version) {
		log_error(
			"report is of one run, as in bpfmon report align; filters are for --many");
		return -EINVAL;
	}
	return words_check_most(options, 1);
}

static void report_help(void)
{
	puts("Usage: bpfmon report [OPTIONS] [RUN]\n"
	     "       bpfmon report --many[=METRIC,...] [OPTIONS] [WORD...]\n\n"
	     "Makes one HTML page of a run: charts, processes over time, programs, events. It "
	     "needs\n"
	     "no network and no other file. RUN is a number of `bpfmon list`, a name (the "
	     "last\n"
	     "run of it; align~1: the one before), the beginning of the run's UUID, or a file: "
	     "JSON\n"
	     "Lines, whole or cut off (-: stdin). Without RUN it is the last one.\n\n"
	     "With --many it is a page of all runs that pass the filters and have each WORD in "
	     "their\n"
	     "name, command or note: runs.html, or --output.\n");
	options_print(&subcommand_report);
	puts("\nWithout --format the end of --output says which: .html, .svg, .png, .pdf. The last "
	     "two\n"
	     "take rsvg-convert or chromium. Texts of a picture keep their size, whatever its "
	     "width.\n"
	     "Exit status: 0; 2 usage, no such run.");
}

static int report_make_many(const struct report_options *o, const struct report_format *format)
{
	const char *path = o->path ? o->path : "runs.html";
	__cleanup(freep) char *text = NULL;
	size_t length;
	int err;

	if (format->is_picture) {
		log_error("--many makes a page; there is no picture of it");
		return -EINVAL;
	}
	err = report_many_make(&o->many, &o->store, &text, &length);
	if (!err)
		err = whole_file_write("report", path, o->force, text, length);
	if (!err && !o->quiet)
		whole_file_announce("report", path, NULL);
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
		log_error("the run comes from stdin; -o says where its report goes");
		return EXIT_USAGE;
	}
	o.layout.panel = o.panel ? chart_find(o.panel) : FIGURE_ALL;
	format = report_choose_format(&o);
	if (format && o.many.is_given)
		return report_make_many(&o, format) ? EXIT_USAGE : 0;
	return !format || report_make(&o, format) ? EXIT_USAGE : 0;
}

const struct subcommand subcommand_report = {
	.name = "report",
	.aliases = "plot html",
	.summary = "one as a page for a browser",
	.part = PART_READS,
	.words = { .most = ANY_WORDS, .offer = completion_offer_runs },
	.run = cmd_report,
	.groups = report_groups,
	.options_bytes = sizeof(struct report_options),
	.parse = report_parse,
	.help = report_help,
};
