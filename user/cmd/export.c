// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon export RUN -f FORMAT: a run that was kept, in the formats of other programs. */
#include "cmd/export.h"

#include "cmd/common_options.h"
#include "cmd/named_run.h"
#include "cmd/option_values.h"
#include "cmd/stop_signals.h"
#include "cmd/whole_file.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "export/export.h"
#include "record/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The files of the format. */
struct outputs {
	struct output out[EXPORT_DOCUMENTS];
	char *path[EXPORT_DOCUMENTS]; /* owned */
	size_t nr;
};

struct export_options {
	struct common_options common;   /* its word: the run */
	const struct export_format *as; /* NULL: none was named */
	const char *path;               /* NULL: stdout */
	bool force, quiet;
	struct store_options store;
};

int export_format_parse(void *as, const char *text)
{
	const struct export_format *f = export_find(text);

	if (!f)
		return -EINVAL;
	*(const struct export_format **)as = f;
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct export_options, field)

static const struct option_row export_rows[] = {
	{ "format", 'f', "FORMAT", false, "One of jsonl, csv, json, influx ...; export --help lists all", export_format_parse, AT(as), GUARD_NONE },
	{ "output", 'o', "PATH", false, "Write to PATH, not to stdout", text_parse, AT(path), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

static const struct option_group export_groups[] = {
	{ export_rows, 0, false },
	{ force_rows, AT(force), false },
	{ silent_rows, AT(quiet), false },
	{ store_rows, AT(store), true },
	{ node_rows, AT(store), false },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int export_parse(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_export, options, argc, argv);
}

static void export_help(void)
{
	const struct export_format *f;

	puts("Usage: bpfmon export [RUN...] -f FORMAT [-o PATH] [--force]\n\n"
	     "Writes runs that were kept in the format of another program. RUN is a number of\n"
	     "`bpfmon list`, a name (the last run of it; align~1: the one before, align~all: all\n"
	     "of them), the beginning of the run's UUID, or a file: JSON Lines, whole or cut off\n"
	     "(-: stdin). Without RUN it is the last one. Several runs go into one file of jsonl\n"
	     "or influx.\n");
	options_print(&subcommand_export);
	puts("\nFormats:");
	for (size_t i = 0; (f = export_at(i)); i++)
		printf("  %-14s %s\n", f->name, f->help);
	puts("\nExit status: 0; 2 usage, no such run, not permitted.");
}

static int export_check_options(const struct export_options *o)
{
	const struct export_format *f = o->as;

	if (!f)
		log_error("no format was named; try: bpfmon export %s%s-f csv, or --help",
			  o->common.words[0] ? o->common.words[0] : "",
			  o->common.words[0] ? " " : "");
	else if (f->documents[1].write && (!o->path || !strcmp(o->path, "-")))
		log_error("%s is two files; name them: -o run makes run%s and run%s", f->name,
			  f->documents[0].suffix, f->documents[1].suffix);
	else
		return 0;
	return -EINVAL;
}

static void export_report_unreadable(const struct source *s, const char *run, int err)
{
	log_error("cannot read the run '%s': %s", run, source_why(s, err));
}

static int export_report_unwritable(const char *path, const struct output *out, int err)
{
	if (err == -EEXIST)
		log_error("'%s' exists and is not overwritten; --force replaces it", path);
	else if (err == -EALREADY)
		log_error("'%s' is being written by a bpfmon", path);
	else
		log_error("cannot write '%s': %s", strcmp(path, "-") ? path : "stdout",
			  output_error(out, err));
	return err;
}

static int export_outputs_open(struct outputs *all, const struct export_options *o)
{
	const char *path = o->path ? o->path : "-";

	for (; all->nr < EXPORT_DOCUMENTS && o->as->documents[all->nr].write; all->nr++) {
		struct output *out = &all->out[all->nr];
		int err = 0;

		if (asprintf(&all->path[all->nr], "%s%s", path, o->as->documents[all->nr].suffix) <
		    0) {
			all->path[all->nr] = NULL;
			err = -ENOMEM;
		}
		if (!err)
			err = output_open_whole(out, all->path[all->nr], o->force);
		if (err) {
			export_report_unwritable(all->path[all->nr] ? all->path[all->nr] : path,
						 out, err);
			free(all->path[all->nr]);
			return err;
		}
	}
	return 0;
}

static int export_outputs_put(void *context, const char *text, size_t length)
{
	if (stop_signals_came())
		return -EINTR;
	output_put(context, text, length);
	return output_flush(context);
}

/* Only when everything is on disk do the files take their names: a full disk may show in fsync().
 */
static int export_outputs_commit(struct outputs *all)
{
	int err = 0;

	if (memory_has_failed()) /* part of the output may be missing */
		return export_report_unwritable(all->nr ? all->path[0] : "-", &all->out[0],
						-ENOMEM);
	for (size_t i = 0; !err && i < all->nr; i++) {
		struct output *out = &all->out[i];

		if (out->is_regular && fsync(out->fd))
			err = export_report_unwritable(all->path[i], out, -errno);
	}
	for (size_t i = 0; !err && i < all->nr; i++)
		if ((err = output_commit(&all->out[i]))) {
			export_report_unwritable(all->path[i], &all->out[i], err);
			while (i--) /* one file of two is of no use */
				output_remove_new(&all->out[i]);
			break;
		}
	return err;
}

static int export_outputs_write(struct exporter *e, struct outputs *all,
				const struct export_options *o, const char *label)
{
	int err = 0;

	for (size_t i = 0; !err && i < all->nr; i++) {
		err = export_write(e, &o->as->documents[i], export_outputs_put, &all->out[i]);
		if (err && err != -EINTR && e->is_refused)
			export_report_unwritable(all->path[i], &all->out[i], err);
		else if (err && err != -EINTR)
			export_report_unreadable(e->source, label, err);
	}
	return err;
}

/* Removes what has not been committed. */
static void export_outputs_close(struct outputs *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		output_close(&all->out[i]);
		free(all->path[i]);
	}
}

static void export_report_left_out(const struct exporter *e, const char *run)
{
	if (e->is_folded)
		log_warn("'%s' was cut off, or the run goes on; what there is of it was exported",
			 run);
	if (e->unreadable)
		log_warn("%lu lines of '%s' cannot be read and were left out",
			 (unsigned long)e->unreadable, run);
}

/* The outputs are opened when the first run has been read. */
static int run_export(const struct export_options *o, const struct named_runs *runs, size_t i,
		      struct outputs *all)
{
	const char *label = runs->list[i].label;
	struct source source;
	struct exporter e;
	int err = named_runs_open(runs, i, &source);

	if (err)
		return err;
	err = export_open(&e, &source);
	if (err)
		export_report_unreadable(&source, label, err);
	else if (!i)
		err = export_outputs_open(all, o);
	if (!i && !err && all->out[0].is_regular) /* for a pipe the signal may end us at once */
		stop_signals_catch();
	if (!err)
		err = export_outputs_write(&e, all, o, label);
	if (!err)
		export_report_left_out(&e, label);
	export_close(&e);
	source_close(&source);
	return err;
}

static int runs_check_number(const struct export_options *o, const struct named_runs *runs)
{
	if (runs->nr == 1 || o->as->takes_several)
		return 0;
	log_error("a file of %s holds one run, and these are %zu; export them one by one, or all "
		  "of them with -f jsonl or -f influx",
		  o->as->name, runs->nr);
	return -EINVAL;
}

static int runs_export(const struct export_options *o)
{
	static const struct run_word_rules many = { .takes_many = true };
	struct outputs all = { 0 };
	struct named_runs runs;
	int err = named_runs_find(&runs, &o->store, o->common.words, &many, NULL);

	if (!err)
		err = runs_check_number(o, &runs);
	for (size_t i = 0; !err && i < runs.nr; i++)
		err = run_export(o, &runs, i, &all);
	if (!err)
		err = export_outputs_commit(&all);
	if (!err && !o->quiet)
		whole_file_announce("export", all.path[0], all.nr > 1 ? all.path[1] : NULL);
	export_outputs_close(&all);
	named_runs_done(&runs);
	return err;
}

static int cmd_export(int argc, char **argv)
{
	struct export_options o;
	int go_on = options_begin(&subcommand_export, &o, argc, argv), err;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	err = export_check_options(&o);
	if (o.path || !isatty(STDOUT_FILENO)) /* else what is written shows how far it is */
		progress_begin("exporting", "lines", 0);
	if (!err)
		err = runs_export(&o);
	progress_end();
	stop_signals_release();
	return err ? EXIT_USAGE : 0;
}

const struct subcommand subcommand_export = {
	.name = "export",
	.summary = "one for other programs",
	.part = PART_READS,
	.run = cmd_export,
	.groups = export_groups,
	.options_bytes = sizeof(struct export_options),
	.parse = export_parse,
	.help = export_help,
};
