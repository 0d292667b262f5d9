// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon help [COMMAND]: the manual page, at the section of a subcommand. */
#include "bpfmon/common_options.h"
#include "bpfmon/manual.h"
#include "bpfmon/mistakes.h"

#include "base/exit_status.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct help_options {
	struct common_options common; /* its word: the subcommand */
};

static const struct option_group help_groups[] = {
	{ common_rows, 0, false },
	{ 0 },
};

static int help_parse(void *options, int argc, char **argv)
{
	const struct common_options *o = options;
	int err = options_parse(&subcommand_help, options, argc, argv);

	if (err || !o->words || !o->words[0])
		return err;
	if (!subcommand_find(o->words[0]))
		return mistaken_subcommand_refuse(o->words[0]);
	return o->words[1] ? options_refuse("there is a word too many,", o->words[1]) : 0;
}

static void help_help(void)
{
	puts("Usage: bpfmon help [COMMAND]\n\n"
	     "Opens the manual page, at the section of a subcommand if one is named. Without man\n"
	     "or without a page it prints what `bpfmon COMMAND --help` does.\n");
	options_print(&subcommand_help);
	puts("Exit status: 0; 2 there is no such subcommand.");
}

static int cmd_help(int argc, char **argv)
{
	const struct subcommand *sub = &subcommand_run;
	struct help_options o;
	int go_on = options_begin(&subcommand_help, &o, argc, argv), err;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (o.common.words[0])
		sub = subcommand_find(o.common.words[0]);
	err = manual_show(sub->name);
	if (err == -ENOENT && sub->help)
		sub->help();
	else if (err == -ENOENT)
		printf("bpfmon %s: %s\n", sub->name, sub->summary);
	else if (err)
		log_error("cannot show the manual: %s", strerror(-err));
	if (fflush(stdout) || ferror(stdout))
		log_error("cannot write to stdout");
	else
		return err && err != -ENOENT ? EXIT_USAGE : 0;
	return EXIT_USAGE;
}

const struct subcommand subcommand_help = {
	.name = "help",
	.summary = "the manual, at the section of a COMMAND",
	.part = PART_INFORMS,
	.run = cmd_help,
	.groups = help_groups,
	.options_bytes = sizeof(struct help_options),
	.parse = help_parse,
	.help = help_help,
};
