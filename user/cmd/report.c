// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon report RUN [-o PAGE]: a run as one page for a browser, or as one picture. */
#include "cmd/common_options.h"
#include "cmd/named_run.h"
#include "cmd/option_values.h"
#include "cmd/whole_file.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "report/figure.h"
#include "report/page.h"
#include "report/run.h"

#include <errno.h>
#include <string.h>

struct report_format {
	const char *name; /* as it is typed, and as its files end */
	int (*write)(FILE *f, struct report_run *r, const char *source);
};

static int report_write_page(FILE *f, struct report_run *r, const char *source)
{
	struct jsonw data = { 0 };
	int err = report_write_data(r, source, &data);

	if (!err)
		err = page_write(f, &data);
	jsonw_done(&data);
	return err;
}

static int report_write_figure(FILE *f, struct report_run *r, const char *source)
{
	(void)source;
	return figure_write(f, r);
}

static const struct report_format formats[] = { { "html", report_write_page },
						{ "svg", report_write_figure } };

struct report_options {
	struct common_options common; /* its word: the run */
	bool force;
	const char *path, *format; /* NULL: not given */
	struct store_options store;
};

static int report_format_parse(void *name, const char *text)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(text, formats[i].name))
			return text_parse(name, text);
	return -EINVAL;
}

/* clang-format off */
#define AT(field) offsetof(struct report_options, field)

static const struct option_row report_rows[] = {
	{ "output", 'o', "PATH", false, "Where the report goes, - for stdout (default: RUN.html)", text_parse, AT(path), GUARD_ENVIRONMENT },
	{ "format", 'f', "FORMAT", false, "html (default), or svg: the charts as one picture", report_format_parse, AT(format), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group report_groups[] = {
	{ force_rows, AT(force), false },
	{ report_rows, 0, false },
	{ store_rows, AT(store), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int report_parse(void *options, int argc, char **argv)
{
	int err = options_parse(&subcommand_report, options, argc, argv);

	return err ? err : words_check_run(options);
}

static void report_help(void)
{
	puts("Usage: bpfmon report [OPTIONS] RUN\n\n"
	     "Makes one HTML page of a run: charts, processes over time, programs, events. It "
	     "needs\n"
	     "no network and no other file. RUN is a number of `bpfmon list`, a name, the "
	     "beginning\n"
	     "of the run's UUID, or a file: JSON Lines, whole or cut off (-: stdin).\n");
	options_print(&subcommand_report);
	puts("\nWithout --format the end of --output says which, .html or .svg.\n"
	     "Exit status: 0; 2 usage, no such run, or several of that name.");
}

static bool path_ends_in(const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);

	return n > m && path[n - m - 1] == '.' && !strcmp(path + n - m, ending);
}

/* The one that is named; else the one by which the path ends; else the first. */
static const struct report_format *report_choose_format(const struct report_options *o)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (o->format ? !strcmp(o->format, formats[i].name)
			      : o->path && path_ends_in(o->path, formats[i].name))
			return &formats[i];
	return &formats[0];
}

/* run.jsonl -> run.html, 42 -> 42.html; to be freed, NULL after one line to the user. */
static char *report_choose_path(const struct report_options *o, const struct report_format *format)
{
	const char *run = o->common.words[0];
	size_t n = strlen(run);
	char *path = NULL;

	if (!o->path && !strcmp(run, "-")) {
		log_error("the run comes from stdin; -o says where its report goes");
		return NULL;
	}
	if (o->path)
		path = strdup(o->path);
	else if (asprintf(&path, "%.*s.%s", (int)(path_ends_in(run, "jsonl") ? n - 6 : n), run,
			  format->name) < 0)
		path = NULL;
	if (!path)
		log_error("out of memory for the report's name");
	return path;
}

static int report_load(struct report_run *r, const struct report_options *o)
{
	struct source source;
	int err = named_run_open(&source, o->store.path, o->common.words[0], NULL);

	if (err)
		return err; /* reported already */
	err = report_open(r);
	if (!err)
		err = report_read(r, &source);
	if (err == -ENODATA)
		log_error("'%s' has no samples: there is nothing to draw", o->common.words[0]);
	else if (err)
		log_error("cannot read '%s': %s", o->common.words[0], source_why(&source, err));
	source_close(&source);
	return err;
}

static int report_render(struct report_run *r, const struct report_format *format, const char *name,
			 char **text, size_t *length)
{
	FILE *f = open_memstream(text, length);
	int err = f ? format->write(f, r, name) : -ENOMEM;

	if (f && fclose(f) && !err)
		err = -ENOMEM;
	if (err)
		log_error("cannot make the report of '%s': %s", name, strerror(-err));
	return err;
}

static int report_make(const struct report_options *o, const struct report_format *format,
		       const char *path)
{
	__cleanup(freep) char *text = NULL;
	struct report_run run = { 0 };
	size_t length;
	int err = report_load(&run, o);

	if (!err)
		err = report_render(&run, format, o->common.words[0], &text, &length);
	report_close(&run);
	return err ? err : whole_file_write("report", path, o->force, text, length);
}

static int cmd_report(int argc, char **argv)
{
	const struct report_format *format;
	struct report_options o;
	int go_on = options_begin(&subcommand_report, &o, argc, argv), err = -EINVAL;
	char *path;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	format = report_choose_format(&o);
	path = report_choose_path(&o, format);
	if (path)
		err = report_make(&o, format, path);
	free(path);
	return err ? EXIT_USAGE : 0;
}

const struct subcommand subcommand_report = {
	.name = "report",
	.summary = "one as a page for a browser",
	.part = PART_READS,
	.run = cmd_report,
	.groups = report_groups,
	.options_bytes = sizeof(struct report_options),
	.parse = report_parse,
	.help = report_help,
};
