// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon show: a run again, from the store or from a file of lines. */
#include "options/common_options.h"
#include "store/named_run.h"
#include "options/option_values.h"
#include "bpfmon/show_run.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "run/template.h"
#include "options/completion.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

static int show_by_parse(void *options, const char *text)
{
	static const char *const words[] = { "phase", "span" };
	struct show_options *o = options;
	int at = word_find(words, sizeof(words) / sizeof(*words), text);

	if (at < 0)
		return at;
	o->by = at ? BY_SPAN : BY_PHASE;
	return 0;
}

static int show_format_parse(void *options, const char *text)
{
	struct show_options *o = options;

	if (!text_is_template(text))
		return print_markdown_parse(&o->as, text);
	o->template = text;
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct show_options, field)

static const struct option_row show_rows[] = {
	{ "by", 0, "phase|span", false, "What each phase, from mark to mark, or each span used", show_by_parse, 0, GUARD_NONE },
	{ "each", 0, NULL, false, "With --by: each one, those of the same name not summed", flag_parse, AT(each), GUARD_NONE },
	{ "format", 'f', "FORMAT", false, "text (default), json, markdown, or a template: '%e %M {samples}'", show_format_parse, 0, GUARD_NONE },
	{ "json", 0, NULL, false, "The same as --format json: meta and summary as one object", print_json_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group show_groups[] = {
	{ show_rows, 0, false },
	{ store_rows, AT(store), true },
	{ node_rows, AT(store), false },
	{ colour_rows, AT(common), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int show_parse(void *options, int argc, char **argv)
{
	const struct show_options *o = options;
	int err = options_parse(&subcommand_show, options, argc, argv);
	char why[TEMPLATE_WHY_BYTES];

	if (!err && o->each && o->by == BY_NOTHING)
		return options_refuse("without --by phase or span there is no", "--each");
	if (!err && o->template && o->by != BY_NOTHING)
		return options_refuse("with --by there is no template", o->template);
	if (!err && o->template && template_check(o->template, why)) {
		log_error("--format does not take '%s': %s", o->template, why);
		return -EINVAL;
	}
	return err;
}

static void show_help(void)
{
	puts("Usage: bpfmon show [OPTIONS] [RUN]\n\n"
	     "Shows a run again: what it was, its summary, and how it went over time. RUN is a\n"
	     "number of `bpfmon list`, a name (the last run of it; align~1: the one before), the\n"
	     "beginning of the run's UUID, or a file: JSON Lines, whole or cut off (-: stdin).\n"
	     "Without RUN it is the last one, ~1 the one before that.\n");
	options_print(&subcommand_show);
	puts("Exit status: 0; 2 usage, no such run.");
}

static int cmd_show(int argc, char **argv)
{
	char label[RUN_LABEL_BYTES];
	struct source s;
	struct show_options o;
	int go_on = options_begin(&subcommand_show, &o, argc, argv), err;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (named_run_open(&s, &o.store, o.common.words[0], label))
		return EXIT_USAGE;
	o.common.words = (char *[]){ label, NULL };
	err = run_show(&s, &o);
	if (err)
		log_error("cannot show '%s': %s", o.common.words[0], source_why(&s, err));
	source_close(&s);
	return err ? EXIT_USAGE : 0;
}

const struct subcommand subcommand_show = {
	.name = "show",
	.aliases = "info summary stat",
	.summary = "one of them again",
	.part = PART_READS,
	.words = { .most = 1, .offer = completion_offer_runs },
	.run = cmd_show,
	.groups = show_groups,
	.options_bytes = sizeof(struct show_options),
	.parse = show_parse,
	.help = show_help,
};
