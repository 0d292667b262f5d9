// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon export RUN -f FORMAT: a run that was kept, in the formats of other programs. */
#include "cmd/cmd.h"
#include "cmd/open_run.h"

#include "base/log.h"
#include "export/export.h"
#include "record/output.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct export_options {
	const char *run, *path;
	const struct export_format *format;
	bool force, help;
};

/* The files of the format. */
struct outputs {
	struct output out[EXPORT_DOCUMENTS];
	char *path[EXPORT_DOCUMENTS]; /* owned */
	size_t nr;
};

static volatile sig_atomic_t stopped_by;

static void note_signal(int sig)
{
	stopped_by = sig;
}

static void help(void)
{
	const struct export_format *f;

	puts("Usage: bpfmon export RUN -f FORMAT [-o PATH] [--force]\n\n"
	     "Writes a run that was kept in the format of another program. RUN is a file that\n"
	     "-o run.jsonl wrote, whole or cut off; - reads it from stdin.\n\n"
	     "  -f, --format FORMAT            One of the formats below\n"
	     "  -o, --output PATH              Where it goes (default: stdout)\n"
	     "      --force                    Replace a file that exists\n"
	     "  -h, --help                     Show this help\n\n"
	     "Formats:");
	for (size_t i = 0; (f = export_at(i)); i++)
		printf("  %-14s %s\n", f->name, f->help);
	puts("\nExit status: 0; 2 usage, not found, not permitted.");
}

static int choose_format(struct export_options *o, const char *name)
{
	const struct export_format *f;
	char names[256] = "";

	o->format = export_find(name);
	if (o->format)
		return 0;
	for (size_t i = 0, n = 0; (f = export_at(i)); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "", f->name);
	log_error("there is no format '%s'; there are %s", name, names);
	return -EINVAL;
}

static int parse_option(struct export_options *o, int c, const char *word)
{
	switch (c) {
	case 'f':
		return choose_format(o, optarg);
	case 'o':
		o->path = optarg;
		return 0;
	case 'F':
		o->force = true;
		return 0;
	case 'h':
		o->help = true;
		return 0;
	case ':':
		log_error("a value is missing after '%s'; see bpfmon export --help", word);
		return -EINVAL;
	default:
		log_error("there is no option '%s'; see bpfmon export --help", word);
		return -EINVAL;
	}
}

static int check(const struct export_options *o, int words)
{
	if (!words)
		log_error("no run was named; try: bpfmon export run.jsonl -f csv");
	else if (words > 1)
		log_error("export takes one run; there are words too many after '%s'", o->run);
	else if (!o->format)
		log_error("no format was named; try: bpfmon export %s -f csv, or --help", o->run);
	else if (o->path && !*o->path)
		log_error("a path is missing in --output ''");
	else if (o->format->documents[1].write && (!o->path || !strcmp(o->path, "-")))
		log_error("%s is two files; name them: -o run makes run%s and run%s",
			  o->format->name, o->format->documents[0].suffix,
			  o->format->documents[1].suffix);
	else
		return 0;
	return -EINVAL;
}

static int parse(struct export_options *o, int argc, char **argv)
{
	static const struct option longs[] = { { "format", required_argument, NULL, 'f' },
					       { "output", required_argument, NULL, 'o' },
					       { "force", no_argument, NULL, 'F' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":f:o:h", longs, NULL)) != -1)
		if (parse_option(o, c, argv[optind - 1]))
			return -EINVAL;
	if (o->help)
		return 0;
	o->run = argv[optind];
	return check(o, argc - optind);
}

static int tell_unwritable(const char *path, int err)
{
	if (err == -EEXIST)
		log_error("'%s' exists and is not overwritten; --force replaces it", path);
	else if (err == -EALREADY)
		log_error("'%s' is being written by a bpfmon", path);
	else
		log_error("cannot write '%s': %s", strcmp(path, "-") ? path : "stdout",
			  strerror(-err));
	return err;
}

static int open_outputs(struct outputs *all, const struct export_options *o)
{
	const char *path = o->path ? o->path : "-";

	for (; all->nr < EXPORT_DOCUMENTS && o->format->documents[all->nr].write; all->nr++) {
		struct output *out = &all->out[all->nr];
		int err = 0;

		if (asprintf(&all->path[all->nr], "%s%s", path,
			     o->format->documents[all->nr].suffix) < 0) {
			all->path[all->nr] = NULL;
			err = -ENOMEM;
		}
		if (!err)
			err = output_open(out, all->path[all->nr], o->force);
		if (err) {
			tell_unwritable(all->path[all->nr] ? all->path[all->nr] : path, err);
			free(all->path[all->nr]);
			return err;
		}
	}
	return 0;
}

static int pass(void *context, const char *text, size_t length)
{
	if (stopped_by)
		return -EINTR;
	output_put(context, text, length);
	return output_flush(context);
}

/* All is written: only now a disk that is full can be ruled out, and the files take their names. */
static int commit(struct outputs *all)
{
	int err = 0;

	for (size_t i = 0; !err && i < all->nr; i++) {
		struct output *out = &all->out[i];

		if (out->is_regular && fsync(out->fd))
			err = tell_unwritable(all->path[i], -errno);
	}
	for (size_t i = 0; !err && i < all->nr; i++)
		if ((err = output_commit(&all->out[i])))
			tell_unwritable(all->path[i], err);
	return err;
}

/* A file that was begun is removed before we end by a signal; a pipe ends us at once. */
static void catch_signals(const struct outputs *all)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = note_signal }, old;

	for (size_t i = 0; all->out[0].is_regular && i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

static int write_all(struct exporter *e, struct outputs *all, const struct export_options *o)
{
	int err = 0;

	catch_signals(all);
	for (size_t i = 0; !err && i < all->nr; i++) {
		err = export_write(e, &o->format->documents[i], pass, &all->out[i]);
		if (err && err != -EINTR && e->is_refused)
			tell_unwritable(all->path[i], err);
		else if (err && err != -EINTR)
			tell_unreadable(o->run, err);
	}
	return err ? err : commit(all);
}

/* What has not been committed goes. */
static void close_outputs(struct outputs *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		output_close(&all->out[i]);
		free(all->path[i]);
	}
}

static void tell_left_out(const struct exporter *e, const char *run)
{
	if (e->is_folded)
		log_warn("'%s' was cut off, or the run goes on; what there is of it was exported",
			 run);
	if (e->unreadable)
		log_warn("%lu lines of '%s' cannot be read and were left out",
			 (unsigned long)e->unreadable, run);
}

static int export_run(const struct export_options *o)
{
	struct outputs all = { 0 };
	struct source source;
	struct exporter e;
	int err = open_run(&source, o->run);

	if (err)
		return err;
	err = export_open(&e, &source);
	if (err)
		tell_unreadable(o->run, err);
	else if (!(err = open_outputs(&all, o)))
		err = write_all(&e, &all, o);
	close_outputs(&all);
	if (!err)
		tell_left_out(&e, o->run);
	export_close(&e);
	source_close(&source);
	return err;
}

int cmd_export(int argc, char **argv)
{
	struct export_options o = { 0 };
	int err = parse(&o, argc, argv);

	if (err)
		return EXIT_USAGE;
	if (o.help) {
		help();
		return 0;
	}
	err = export_run(&o);
	if (stopped_by) {
		signal(stopped_by, SIG_DFL);
		raise(stopped_by);
	}
	return err ? EXIT_USAGE : 0;
}
