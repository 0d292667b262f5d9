// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon export RUN -f FORMAT: writes stored runs in the formats of other programs. */

#include "base/memory.h"
#include "options/common_options.h"
#include "store/named_run.h"
#include "options/option_values.h"
#include "bpfmon/whole_file.h"
#include "bpfmon/roles/output.h"
#include "export/export.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "base/progress.h"
#include "bpfmon/subcommands.h"
#include "options/completion.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One output per document of the format. */
struct export_outputs {
	struct output out[EXPORT_DOCUMENTS];
	char *path[EXPORT_DOCUMENTS]; /* owned */
	size_t nr;
};

struct export_run {
	struct source source; /* kept open if it is a pipe, which can be read only once */
	bool is_open;
	bool is_repeated; /* an earlier word names the same run */
};

struct export_runs {
	struct named_runs named;
	struct export_run *list; /* owned; named.nr of them */
	struct export_batch batch;
	struct export_outputs all;
};

struct export_options {
	struct common_options common;   /* common.words: the runs */
	const struct export_format *as; /* NULL if not given */
	const char *path;               /* NULL: stdout */
	bool force, quiet;
	struct store_options store;
};

int export_format_parse(void *as, const char *text)
{
	const struct export_format *f = export_find(text);

	if (!f)
		return value_refuse("a format that 'bpfmon export --help' lists");
	*(const struct export_format **)as = f;
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct export_options, field)

static const struct option_row export_rows[] = {
	{ "format", 'f', "FORMAT", false, "Output format, as in jsonl, csv, json or influx", export_format_parse, AT(as), GUARD_NONE },
	{ "output", 'o', "PATH", false, "Write to PATH instead of stdout", text_parse, AT(path), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

static const struct option_group export_groups[] = {
	{ export_rows, 0, false },          { force_rows, AT(force), false },
	{ silent_rows, AT(quiet), false },  { store_rows, AT(store), true },
	{ node_rows, AT(store), false },    { node_agent_rows, AT(store), true },
	{ common_rows, AT(common), false }, { 0 },
};

/* Prints the names of the formats that hold one run only. */
static void export_print_single(void)
{
	const struct export_format *f;
	const char *last = NULL, *before = "";

	for (size_t i = 0; (f = export_at(i)); i++) {
		if (f->takes_several)
			continue;
		if (last) {
			printf("%s%s", before, last);
			before = ", ";
		}
		last = f->name;
	}
	if (last)
		printf("%s%s hold only one run.\n", *before ? " and " : "", last);
}

static void export_help(void)
{
	const struct export_format *f;

	puts("Usage: bpfmon export [RUN...] -f FORMAT [-o PATH] [--force]\n"
	     "\n"
	     "Converts recorded runs to the format of another program. RUN is a number from "
	     "`bpfmon\n"
	     "list`, a name (its last run; align~1: the one before, align~all: all of them), the\n"
	     "beginning of a UUID, or a file of JSON Lines, which may be truncated (-: stdin). "
	     "The\n"
	     "default is the last run. A file holds several runs in most formats, but");
	export_print_single();
	putchar('\n');
	options_print(&subcommand_export);
	puts("\nFormats:");
	for (size_t i = 0; (f = export_at(i)); i++)
		printf("  %-14s %s\n", f->name, f->help);
	puts("\nExit status: 0: success, 2: usage error, no such run, or not permitted.");
}

static int export_check_options(const struct export_options *o)
{
	const struct export_format *f = o->as;

	if (!f)
		log_error("no format given; try: bpfmon export %s%s-f csv, or see --help",
			  o->common.words[0] ? o->common.words[0] : "",
			  o->common.words[0] ? " " : "");
	else if (f->documents[1].write && (!o->path || !strcmp(o->path, "-")))
		log_error("%s consists of two files; -o run makes run%s and run%s", f->name,
			  f->documents[0].suffix, f->documents[1].suffix);
	else
		return 0;
	return -EINVAL;
}

static void export_report_unreadable(const struct source *s, const char *run, int err)
{
	log_error("cannot read run '%s': %s", run, source_why(s, err));
}

static void export_report_left_out(const struct exporter *e, const char *run)
{
	if (e->is_folded)
		log_warn("'%s' is truncated, or the run is still going on; exported what is there",
			 run);
	if (e->unreadable)
		log_warn("skipped %lu invalid lines of '%s'", (unsigned long)e->unreadable, run);
}

/* Opens the run, unless it is still open from the survey. */
static int export_run_open(struct export_runs *r, size_t i)
{
	struct export_run *run = &r->list[i];
	int err;

	if (run->is_open)
		return 0;
	err = named_runs_open(&r->named, i, &run->source);
	run->is_open = !err;
	return err;
}

static void export_run_close(struct export_run *run)
{
	if (run->is_open)
		source_close(&run->source);
	run->is_open = false;
}

static int export_report_unwritable(const char *path, const struct output *out, int err)
{
	if (err == -EEXIST)
		log_error("'%s' exists; use --force to overwrite it", path);
	else if (err == -EALREADY)
		log_error("another bpfmon is writing '%s'", path);
	else
		log_error("cannot write '%s': %s", strcmp(path, "-") ? path : "stdout",
			  output_error(out, err));
	return err;
}

/*
 * Opens the outputs at @path ("-": stdout); @force replaces existing files. Returns 0, or a
 * negative errno after a message. The caller calls export_outputs_close() in any case.
 */
static int export_outputs_open(struct export_outputs *all, const struct export_format *as,
			       const char *path, bool force)
{
	memory_exit_on_failure(false); /* an incomplete file has to be removed */
	for (; all->nr < EXPORT_DOCUMENTS && as->documents[all->nr].write; all->nr++) {
		struct output *out = &all->out[all->nr];
		int err = 0;

		if (memory_asprintf(&all->path[all->nr], "%s%s", path,
				    as->documents[all->nr].suffix) < 0) {
			all->path[all->nr] = NULL;
			err = -ENOMEM;
		}
		if (!err)
			err = output_open_whole(out, all->path[all->nr], force);
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

/*
 * Appends the run of @e. Returns 0; -EINTR without a message if a signal came; or another negative
 * errno, which was reported if e->is_refused, and else means that the run cannot be read.
 */
static int export_outputs_write(struct exporter *e, struct export_outputs *all,
				const struct export_format *as)
{
	int err = 0;

	for (size_t i = 0; !err && i < all->nr; i++) {
		err = export_write(e, &as->documents[i], export_outputs_put, &all->out[i]);
		if (err && err != -EINTR && e->is_refused)
			export_report_unwritable(all->path[i], &all->out[i], err);
	}
	return err;
}

/* Opens the outputs when the first run has been read. */
static int export_run_write(struct export_runs *r, const struct export_options *o, size_t i)
{
	const char *label = r->named.list[i].label;
	struct source *source = &r->list[i].source;
	struct exporter e;
	int err = export_run_open(r, i);

	if (err)
		return err;
	err = export_open(&e, source);
	e.batch = &r->batch;
	if (err)
		export_report_unreadable(source, label, err);
	else if (!r->batch.at)
		err = export_outputs_open(&r->all, o->as, o->path ? o->path : "-", o->force);
	if (!err && !r->batch.at &&
	    r->all.out[0].is_regular) /* a signal may end an export to a pipe */
		stop_signals_catch();
	if (!err) {
		err = export_outputs_write(&e, &r->all, o->as);
		if (err && err != -EINTR && !e.is_refused)
			export_report_unreadable(source, label, err);
	}
	if (!err)
		export_report_left_out(&e, label);
	export_close(&e);
	export_run_close(&r->list[i]);
	r->batch.at++;
	return err;
}

/* Reads what is needed of a run before the first one is written. */
static int export_run_survey(struct export_runs *r, const struct export_format *as, size_t i)
{
	struct export_run *run = &r->list[i];
	const char *label = r->named.list[i].label;
	int err = export_run_open(r, i);

	if (err)
		return err;
	err = export_batch_add(&r->batch, as, &run->source);
	if (err == -EEXIST) {
		log_warn("'%s' is given more than once; exported it once", label);
		run->is_repeated = true;
		err = 0;
	} else if (err) {
		export_report_unreadable(&run->source, label, err);
	}
	if (err || !run->source.is_of_pipe)
		export_run_close(run);
	return err;
}

static int export_check_number(const struct export_options *o, const struct named_runs *named)
{
	if (named->nr == 1 || o->as->takes_several)
		return 0;
	log_error("format %s holds one run, but %zu are given; export each to its own file: bpfmon "
		  "export %s -f %s -o FILE",
		  o->as->name, named->nr, named->list[0].label, o->as->name);
	return -EINVAL;
}

/* The columns of a table must not depend on how many runs a name has at present. */
static bool words_mean_many(char *const *words)
{
	static const char all[] = "~all";
	size_t n = *words ? strlen(*words) : 0;

	return n && (words[1] || (n >= strlen(all) && !strcmp(*words + n - strlen(all), all)));
}

static int export_runs_find(struct export_runs *r, const struct export_options *o)
{
	static const struct run_word_rules many = { .takes_many = true };
	int err = named_runs_find(&r->named, &o->store, o->common.words, &many, NULL);

	if (!err)
		err = export_check_number(o, &r->named);
	if (err)
		return err;
	r->batch.is_many = words_mean_many(o->common.words);
	r->list = memory_calloc(r->named.nr, sizeof(*r->list));
	if (!r->list) {
		log_error("out of memory for %zu runs", r->named.nr);
		return -ENOMEM;
	}
	for (size_t i = 0; !err && i < r->named.nr; i++)
		err = export_run_survey(r, o->as, i);
	return err;
}

/* Removes what has not been committed. */
static void export_outputs_close(struct export_outputs *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		output_close(&all->out[i]);
		free(all->path[i]);
	}
}

static void export_runs_done(struct export_runs *r)
{
	for (size_t i = 0; r->list && i < r->named.nr; i++)
		export_run_close(&r->list[i]);
	free(r->list);
	export_batch_done(&r->batch);
	export_outputs_close(&r->all);
	named_runs_done(&r->named);
}

/*
 * Renames the files when everything is on disk: a full disk may show in fsync() only. Returns 0, or
 * a negative errno after a message.
 */
static int export_outputs_commit(struct export_outputs *all)
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
			while (i--) /* one file of two is useless */
				output_remove_new(&all->out[i]);
			break;
		}
	return err;
}

static int export_runs_write(const struct export_options *o)
{
	struct export_runs r = { 0 };
	int err = export_runs_find(&r, o);

	for (size_t i = 0; !err && i < r.named.nr; i++)
		if (!r.list[i].is_repeated)
			err = export_run_write(&r, o, i);
	if (!err)
		err = export_outputs_commit(&r.all);
	if (!err && !o->quiet)
		whole_file_announce("export", r.all.path[0], r.all.nr > 1 ? r.all.path[1] : NULL);
	export_runs_done(&r);
	return err;
}

static int cmd_export(int argc, char **argv)
{
	struct export_options o;
	int go_on = options_begin(&subcommand_export, &o, argc, argv), err;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	err = export_check_options(&o);
	if (o.path || !isatty(STDOUT_FILENO)) /* else the output itself shows the progress */
		progress_begin("exporting", "lines", 0);
	if (!err)
		err = export_runs_write(&o);
	progress_end();
	stop_signals_release();
	return err ? EXIT_USAGE : 0;
}

static int export_parse(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_export, options, argc, argv);
}

const struct subcommand subcommand_export = {
	.name = "export",
	.summary = "convert a run for other programs",
	.part = PART_READS,
	.words = { .most = ANY_WORDS, .offer = completion_offer_runs },
	.run = cmd_export,
	.groups = export_groups,
	.options_bytes = sizeof(struct export_options),
	.parse = export_parse,
	.help = export_help,
};
