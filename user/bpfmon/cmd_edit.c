// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon edit [RUN...] --name, --tag, --note: changes name, tags and note of stored runs. */
#include "bpfmon/cmd_edit.h"

#include "base/clock.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "bpfmon/recording_options.h"
#include "bpfmon/subcommands.h"
#include "options/common_options.h"
#include "options/completion.h"
#include "store/database_open.h"
#include "store/edit.h"
#include "store/named_run.h"
#include "store/node_store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct edit_options {
	struct common_options common; /* common.words: the runs */
	const char *name, *note;      /* NULL: not given; "": remove */
	struct run_tags tags;
	struct store_options store;
};

/* May be empty: that removes the value. */
static int edit_text_parse(void *value, const char *text)
{
	*(const char **)value = text;
	return 0;
}

static int edit_name_parse(void *value, const char *text)
{
	return *text ? run_word_parse(value, text) : edit_text_parse(value, text);
}

/* clang-format off */
#define AT(field) offsetof(struct edit_options, field)

static const struct option_row edit_rows[] = {
	{ "name", 0, "NAME", false, "Set the name; '' removes it", edit_name_parse, AT(name), GUARD_ENVIRONMENT },
	{ "tag", 0, "KEY=VALUE", false, "Set a tag; KEY= removes it; may be repeated", run_tags_parse, AT(tags), GUARD_ENVIRONMENT },
	{ "note", 'm', "TEXT", false, "Set the note; '' removes it", edit_text_parse, AT(note), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

/* Takes only the variables of the store: BPFMON_NAME is meant for the next run. */
static const struct option_group edit_groups[] = {
	{ edit_rows, 0, false },
	{ store_rows, AT(store), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int edit_parse(void *options, int argc, char **argv)
{
	const struct edit_options *o = options;
	int err = options_parse(&subcommand_edit, options, argc, argv);

	if (err || !o->common.words || o->name || o->note || o->tags.nr)
		return err;
	log_error("nothing to change; use --name, --tag KEY=VALUE or --note, as in: bpfmon edit 42 "
		  "--note 'with the patch'");
	return -EINVAL;
}

static void edit_help(void)
{
	puts("Usage: bpfmon edit [RUN...] [--name NAME] [--tag KEY=VALUE] [--note TEXT]\n"
	     "\n"
	     "Changes the name, tags and note of recorded runs. Measured values never change. RUN "
	     "is\n"
	     "a number from `bpfmon list`, a name (its last run; align~1: the one before, "
	     "align~all:\n"
	     "all of them), or the beginning of a UUID. The default is the last run.\n");
	options_print(&subcommand_edit);
	puts("Exit status: 0: success, 2: usage error, no such run, run in progress, or not "
	     "permitted.");
}

static int run_edit(struct database *d, int64_t id, const void *options)
{
	const struct edit_options *o = options;
	const struct meta_changes changes = { o->name, o->note, o->tags.list, o->tags.nr,
					      clock_ns(CLOCK_REALTIME) };

	return store_edit_run(d, id, &changes);
}

static int run_check_changeable(const struct named_runs *n, const struct named_run *r,
				const char *verb)
{
	const char *path = r->file ? r->file : n->stores.path[r->run.source];

	if (r->file)
		log_error("cannot %s '%s': it is a file; only runs in a store can be changed, see "
			  "'bpfmon list'",
			  verb, path);
	else if (r->run.state == RUN_RUNNING)
		log_error(
			"cannot %s run %s: it is still being recorded; try again when it has ended",
			verb, r->label);
	else if (node_store_is(path))
		log_error("cannot %s run %s: only the agent writes to its store '%s'", verb,
			  r->label, path);
	else
		return 0;
	return -EPERM;
}

int runs_change_each(const struct store_options *store, char *const *words, const char *verb,
		     int (*act)(struct database *d, int64_t id, const void *context),
		     const void *context, struct changed_runs *done)
{
	static const struct run_word_rules many = { .takes_many = true };
	struct named_runs n;
	int err = named_runs_find(&n, store, words, &many, NULL);

	done->nr = 0;
	snprintf(done->path, sizeof(done->path), "%s", n.stores.nr ? n.stores.path[0] : "");
	for (size_t i = 0; !err && i < n.nr; i++)
		err = run_check_changeable(&n, &n.list[i], verb);
	for (size_t i = 0; !err && i < n.nr; i++) {
		const char *path = n.stores.path[n.list[i].run.source];
		struct database d;

		err = database_open(&d, path, DATABASE_CHANGE);
		if (!err)
			err = act(&d, n.list[i].run.id, context);
		if (err)
			log_error("cannot %s run %s in the store '%s': %s", verb, n.list[i].label,
				  path, d.why[0] ? d.why : strerror(-err));
		database_close(&d);
		done->nr += !err;
	}
	named_runs_done(&n);
	return err;
}

static int cmd_edit(int argc, char **argv)
{
	static struct edit_options o;
	int go_on = options_begin(&subcommand_edit, &o, argc, argv), err;
	struct changed_runs done;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	err = runs_change_each(&o.store, o.common.words, "change", run_edit, &o, &done);
	if (!err || done.nr)
		printf("%zu run%s changed\n", done.nr, done.nr == 1 ? "" : "s");
	return err ? EXIT_USAGE : 0;
}

const struct subcommand subcommand_edit = {
	.name = "edit",
	.aliases = "rename tag note",
	.summary = "change the name, tags or note of a run",
	.part = PART_READS,
	.words = { .most = ANY_WORDS, .offer = completion_offer_runs },
	.run = cmd_edit,
	.groups = edit_groups,
	.options_bytes = sizeof(struct edit_options),
	.parse = edit_parse,
	.help = edit_help,
};
