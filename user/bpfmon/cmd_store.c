// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon store: reports the size of the store; prunes, checks and merges it. */
#include "base/exit_status.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "bpfmon/cmd_edit.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "store/database_open.h"
#include "store/stores.h"
#include "store/edit.h"
#include "store/store_writer.h"
#include "store/source.h"
#include "store/database.h"
#include "store/merge.h"
#include "store/remove.h"
#include "text/format.h"
#include "bpfmon/subcommands.h"
#include "options/completion.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void store_json_begin(struct jsonw *j, const char *action, const char *path)
{
	jsonw_object(j, NULL);
	jsonw_schema(j, "store");
	jsonw_string(j, "action", action);
	jsonw_string(j, "path", path);
}

static void store_json_end(struct jsonw *j)
{
	jsonw_object_end(j);
	jsonw_newline(j);
	jsonw_print(j, stdout);
}

/*
 * @path, here and below, is that of the store. If out of memory, prints nothing: main() reports it.
 */
static void store_print_numbers(enum print_format as, const char *path,
				const struct store_size *size)
{
	char file[FORMAT_BYTES], used[FORMAT_BYTES], a[FORMAT_BYTES], b[FORMAT_BYTES];
	struct jsonw j = { 0 };

	if (as == PRINT_TEXT) {
		printf("%s\n  size       %s, %s of it in use\n  runs       %" PRId64
		       "\n  samples    %s\n  processes  %s\n",
		       path, format_bytes(file, size->file_bytes),
		       format_bytes(used, (uint64_t)size->used_bytes), size->runs,
		       format_count(a, (uint64_t)size->samples),
		       format_count(b, (uint64_t)size->processes));
		return;
	}
	store_json_begin(&j, "size", path);
	jsonw_uint(&j, "file_bytes", size->file_bytes);
	jsonw_int(&j, "used_bytes", size->used_bytes);
	jsonw_int(&j, "runs", size->runs);
	jsonw_int(&j, "samples", size->samples);
	jsonw_int(&j, "processes", size->processes);
	store_json_end(&j);
}

static void store_print_pruned(enum print_format as, const char *path, const struct pruned *gone,
			       bool dry_run)
{
	char bytes[FORMAT_BYTES];
	struct jsonw j = { 0 };

	if (as == PRINT_TEXT) {
		printf("%" PRIu64 " runs %s %s\n", gone->runs,
		       dry_run ? "would be removed, about" : "removed,",
		       format_bytes(bytes, (uint64_t)gone->bytes));
		return;
	}
	store_json_begin(&j, "prune", path);
	jsonw_bool(&j, "dry_run", dry_run);
	jsonw_uint(&j, "runs", gone->runs);
	jsonw_int(&j, "bytes", gone->bytes);
	store_json_end(&j);
}

/* @why is NULL if the store is intact. @rows_left: rows that belong to no run. */
static void store_print_checked(enum print_format as, const char *path, const char *why,
				int64_t rows_left)
{
	struct jsonw j = { 0 };

	if (as == PRINT_TEXT) {
		if (!why)
			printf("%s is intact\n", path);
		return;
	}
	store_json_begin(&j, "check", path);
	jsonw_bool(&j, "whole", !why);
	if (why)
		jsonw_string(&j, "reason", why);
	jsonw_int(&j, "rows_left", rows_left);
	store_json_end(&j);
}

static void store_print_merged(enum print_format as, const char *path, const struct merged *m)
{
	struct jsonw j = { 0 };

	if (as == PRINT_TEXT) {
		printf("%" PRIu64 " runs added, %" PRIu64
		       " completed (they were incomplete), %" PRIu64 " were there already",
		       m->added, m->renewed, m->known);
		if (m->edited)
			printf(", %" PRIu64 " of these updated from a later edit", m->edited);
		putchar('\n');
		return;
	}
	store_json_begin(&j, "merge", path);
	jsonw_uint(&j, "added", m->added);
	jsonw_uint(&j, "completed", m->renewed);
	jsonw_uint(&j, "known", m->known);
	jsonw_uint(&j, "edited", m->edited);
	jsonw_uint(&j, "busy", m->busy);
	store_json_end(&j);
}

static void store_print_removed(enum print_format as, const struct changed_runs *done)
{
	struct jsonw j = { 0 };

	if (as == PRINT_TEXT) {
		printf("%zu run%s removed\n", done->nr, done->nr == 1 ? "" : "s");
		return;
	}
	store_json_begin(&j, "remove", done->path);
	jsonw_uint(&j, "runs", done->nr);
	store_json_end(&j);
}

static bool file_is_database(FILE *f)
{
	static const char magic[16] = "SQLite format 3";
	char text[sizeof(magic)];
	bool is = fread(text, 1, sizeof(text), f) == sizeof(text) &&
		  !memcmp(text, magic, sizeof(magic));

	rewind(f);
	return is;
}

/*
 * First opens the other store on its own, to check that it is one, that its schema is known and its
 * values are valid.
 */
static int store_merge_database(struct store_writer *w, const char *path, struct merged *m)
{
	struct database other;
	int err = database_open(&other, path, DATABASE_READ);
	bool is_unchanging = other.is_unchanging;

	if (!err)
		err = store_check_source(&other);
	if (err)
		log_error("cannot read the store '%s': %s", path,
			  other.why[0] ? other.why : strerror(-err));
	database_close(&other);
	progress_begin("merging a store", "runs", 0);
	if (!err && (err = merge_store(&w->d, path, is_unchanging, store_copy_words, m)))
		log_error("cannot merge all of the store '%s': %s", path, w->d.why);
	return err;
}

static int store_merge_lines(struct store_writer *w, FILE *f, const char *path, struct merged *m)
{
	struct import i = { .w = w, .merged = m };
	int err;

	progress_begin("merging a file", "lines", 0);
	err = import_lines(&i, f);

	if (err)
		log_error("cannot merge '%s': %s", path,
			  err == -EBADMSG || !w->d.why[0] ? source_error(err) : w->d.why);
	if (i.unreadable)
		log_warn("'%s': %" PRIu64 " invalid lines were skipped", path, i.unreadable);
	return err;
}

static bool file_is_store(FILE *f, const char *path)
{
	struct stat a, b;

	return !fstat(fileno(f), &a) && !stat(path, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/*
 * Adds the runs of the file @path to the store at @store, which @w has open, and counts them in @m.
 * Skips the store itself. Returns 0, or a negative errno after a message.
 */
static int store_merge_file(struct store_writer *w, const char *store, const char *path,
			    struct merged *m)
{
	__cleanup(fclosep) FILE *f = memory_fopen(path, "re");

	if (!f || fseek(f, 0, SEEK_SET)) {
		log_error("cannot read '%s': %s", path, strerror(errno));
		return -errno;
	}
	if (file_is_store(f, store)) { /* as with all *.sqlite of its folder as arguments */
		log_warn("skipping '%s', which is the store itself", path);
		return 0;
	}
	return file_is_database(f) ? store_merge_database(w, path, m)
				   : store_merge_lines(w, f, path, m);
}

#define EXIT_DAMAGED 1
#define MAX_KEEP 1000000000

struct store_command_options {
	struct common_options common; /* common.words: the action, and files */
	struct store_options store;
	struct prune_limits prune;
	bool dry_run;
	enum print_format as;
};

static int keep_parse(void *limits, const char *text)
{
	struct prune_limits *prune = limits;
	unsigned nr;

	if (number_parse(text, 0, MAX_KEEP, &nr))
		return -EINVAL;
	prune->keep = nr;
	prune->has_keep = true;
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct store_command_options, field)

static const struct option_row prune_rows[] = {
	{ "older-than", 0, "WHEN", false, "prune: remove runs older than 30d, 12h, or 2025-12-24", moment_parse, AT(prune.before_ns), GUARD_ENVIRONMENT },
	{ "keep", 0, "N", false, "prune: keep only the newest N runs", keep_parse, AT(prune), GUARD_ENVIRONMENT },
	{ "max-size", 0, "SIZE", false, "prune: remove the oldest runs above this size, as in 2GiB", size_parse, AT(prune.max_bytes), GUARD_ENVIRONMENT },
	{ "dry-run", 0, NULL, false, "prune: only print what would be removed", flag_parse, AT(dry_run), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

/* clang-format off */
static const struct option_row store_print_rows[] = {
	{ "format", 'f', "FORMAT", false, "Output format: text (default), or json, one object", print_json_or_text_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "Same as --format json", print_json_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group store_groups[] = {
	{ prune_rows, 0, false },
	{ store_print_rows, 0, false },
	{ store_rows, AT(store), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int store_parse_options(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_store, options, argc, argv);
}

static void store_help(void)
{
	puts("Usage: bpfmon store [OPTIONS]\n"
	     "       bpfmon store prune [--older-than WHEN] [--keep N] [--max-size SIZE] "
	     "[--dry-run]\n"
	     "       bpfmon store remove RUN...\n"
	     "       bpfmon store check\n"
	     "       bpfmon store merge FILE...\n"
	     "\n"
	     "Manages the store of this user on this host. Without a command, shows its size. "
	     "prune\n"
	     "removes the oldest runs, and remove those given. check verifies the whole store. "
	     "merge\n"
	     "adds the runs of other stores, or of files of JSON Lines, that the store does not "
	     "have.\n");
	options_print(&subcommand_store);
	puts("Exit status: 0: success, 1: check found damage, 2: usage error, not found, or not\n"
	     "permitted.");
}

static int store_report_error(const char *path, const struct database *d, int err)
{
	log_error("the store '%s': %s", path, d->why[0] ? d->why : strerror(-err));
	return EXIT_USAGE;
}

static int store_run_size(const struct store_command_options *o, const char *path)
{
	struct store_size size = { 0 };
	struct database d;
	int err = database_open(&d, path, DATABASE_READ);

	if (err == -ENOENT && !o->store.path) {
		if (o->as == PRINT_JSON)
			store_print_numbers(o->as, path, &size);
		else
			printf("no runs in '%s' yet\n", path);
		return 0;
	}
	if (!err)
		err = store_size(&d, path, &size);
	if (!err)
		store_print_numbers(o->as, path, &size);
	else
		store_report_error(path, &d, err);
	database_close(&d);
	return err ? EXIT_USAGE : 0;
}

static int store_run_prune(const struct store_command_options *o, const char *path)
{
	struct pruned gone;
	struct database d;
	int err;

	if (!o->prune.before_ns && !o->prune.has_keep && !o->prune.max_bytes) {
		log_error("no condition given; try --older-than 30d, --keep 1000, or --max-size "
			  "2GiB");
		return EXIT_USAGE;
	}
	err = database_open(&d, path, o->dry_run ? DATABASE_READ : DATABASE_CHANGE);
	progress_begin("pruning", "runs", 0);
	if (!err)
		err = store_prune(&d, &o->prune, o->dry_run, &gone);
	progress_end();
	if (!err)
		store_print_pruned(o->as, path, &gone, o->dry_run);
	else
		store_report_error(path, &d, err);
	database_close(&d);
	return err ? EXIT_USAGE : 0;
}

static int store_run_check(const struct store_command_options *o, const char *path)
{
	struct database d;
	int err = database_open(&d, path, DATABASE_READ), status;
	int64_t rows_left = 0;

	if (!err)
		err = store_check(&d, &rows_left);
	if (rows_left)
		log_warn("the store '%s': %" PRId64
			 " rows belong to no run, because a prune is in progress or was killed; "
			 "the next 'bpfmon store prune' or 'merge' removes them",
			 path, rows_left);
	status = !err ? 0 : err == -EFBIG || err == -EUCLEAN ? EXIT_DAMAGED : EXIT_USAGE;
	if (status != EXIT_USAGE)
		store_print_checked(o->as, path, err ? d.why : NULL, rows_left);
	if (status == EXIT_DAMAGED)
		log_error("the store '%s': %s; to recover what is readable: sqlite3 '%s' .recover",
			  path, d.why, path);
	else if (err)
		store_report_error(path, &d, err);
	database_close(&d);
	return status;
}

static int store_run_merge(const struct store_command_options *o, const char *path)
{
	struct merged m = { 0 };
	struct store_writer w;
	int err = 0;

	if (!o->common.words[1]) {
		log_error("no file to merge given; give a store, or a file of JSON Lines");
		return EXIT_USAGE;
	}
	err = store_writer_open(&w, path);
	if (err)
		return store_report_error(path, &w.d, err);
	err = store_remove_left(&w.d); /* rows left by a killed prune */
	if (err) {
		store_report_error(path, &w.d, err);
		store_writer_close(&w);
		return EXIT_USAGE;
	}
	for (char **file = o->common.words + 1; *file; file++)
		err |= store_merge_file(&w, path, *file, &m);
	store_writer_close(&w);
	progress_end();
	store_print_merged(o->as, path, &m);
	if (m.busy)
		log_warn("%" PRIu64 " runs are still being recorded; skipped them", m.busy);
	return err ? EXIT_USAGE : 0;
}

static int run_remove(struct database *d, int64_t id, const void *context)
{
	int err = remove_run(d, id);

	(void)context;
	return err ? err : store_return_space(d);
}

/* Finds the stores of the runs itself, as they may be those of other hosts. */
static int store_run_remove(const struct store_command_options *o)
{
	char *const *words = o->common.words + 1;
	struct changed_runs done;
	int err;

	if (!*words || !strcmp(*words, "~all")) {
		log_error("no run given; try: bpfmon store remove 42; to keep only the newest run: "
			  "bpfmon store prune --keep 1");
		return EXIT_USAGE;
	}
	err = runs_change_each(&o->store, words, "remove", run_remove, NULL, &done);
	if (!err || done.nr)
		store_print_removed(o->as, &done);
	return err ? EXIT_USAGE : 0;
}

enum store_act { STORE_PRUNE, STORE_REMOVE, STORE_CHECK, STORE_MERGE };

static const struct first_word store_words[] = {
	[STORE_PRUNE] = { "prune", NULL, 0 },
	[STORE_REMOVE] = { "remove", "rm delete", ANY_WORDS },
	[STORE_CHECK] = { "check", NULL, 0 },
	[STORE_MERGE] = { "merge", "import", ANY_WORDS },
	{ 0 },
};

static void store_offer(const struct completion *c, const char *first)
{
	if (first && !strcmp(first, store_words[STORE_REMOVE].name))
		completion_offer_runs(c, first);
	else if (first && !strcmp(first, store_words[STORE_MERGE].name))
		completion_offer_files(c);
}

/* Executes the action of the first word on the store at @path. Returns the exit status. */
static int store_run_action(const struct store_command_options *o, const char *path)
{
	static int (*const acts[])(const struct store_command_options *, const char *) = {
		[STORE_PRUNE] = store_run_prune,
		[STORE_CHECK] = store_run_check,
		[STORE_MERGE] = store_run_merge,
	};
	const char *word = o->common.words[0];

	return word ? acts[first_word_find(&subcommand_store, word)](o, path)
		    : store_run_size(o, path);
}

static int cmd_store(int argc, char **argv)
{
	struct stores s = { 0 };
	struct store_command_options o;
	int go_on = options_begin(&subcommand_store, &o, argc, argv), status = EXIT_USAGE;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (o.common.words[0] && !strcmp(o.common.words[0], store_words[STORE_REMOVE].name))
		status = store_run_remove(&o);
	else if (!stores_find(&s, &o.store))
		status = store_run_action(&o, s.path[0]);
	stores_done(&s);
	return status;
}

const struct subcommand subcommand_store = {
	.name = "store",
	.summary = "manage the store: size, prune, remove, check, merge",
	.part = PART_READS,
	.words = { .first = store_words, .offer = store_offer },
	.run = cmd_store,
	.groups = store_groups,
	.options_bytes = sizeof(struct store_command_options),
	.parse = store_parse_options,
	.help = store_help,
};
