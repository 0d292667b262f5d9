// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon help [COMMAND]: opens the manual page of a subcommand. */
#include "base/memory.h"
#include "options/common_options.h"
#include "options/mistakes.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "base/user.h"
#include "options/completion.h"
#include "bpfmon/subcommands.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct help_options {
	struct common_options common; /* common.words: the subcommand */
};

static const struct option_group help_groups[] = {
	{ common_rows, 0, false },
	{ 0 },
};

/* `run` has no name of its own: its page is that of bpfmon. */
static const struct subcommand *help_find(const char *word)
{
	return strcmp(word, "run") ? subcommand_find(word) : &subcommand_run;
}

static int help_parse(void *options, int argc, char **argv)
{
	const struct common_options *o = options;
	const struct subcommand *sub;
	int err = options_parse(&subcommand_help, options, argc, argv);

	if (err || !o->words || !o->words[0])
		return err;
	sub = help_find(o->words[0]);
	if (!sub || !sub->help)
		return mistaken_subcommand_refuse(o->words[0]);
	return o->words[1] ? options_refuse("unexpected argument", o->words[1]) : 0;
}

static void help_help(void)
{
	puts("Usage: bpfmon help [COMMAND]\n"
	     "\n"
	     "Opens the manual page of bpfmon, or of COMMAND, with man(1); `bpfmon help run` "
	     "opens\n"
	     "that of bpfmon. Without man(1) or the page, prints the output of\n"
	     "`bpfmon COMMAND --help`.\n");
	options_print(&subcommand_help);
	puts("Exit status: that of man(1), or 0 without it; 2: no such subcommand.");
}

/*
 * Finds the page of @name, a subcommand (NULL: run), relative to this program: in ../docs/man of a
 * build folder, or in ../share of an installation. Returns false if there is none.
 */
static bool manual_find(const char *name, char page[PATH_MAX])
{
	static const char *const places[] = { "../docs/man", "../share/man/man1" };
	static const char *const ends[] = { "1", "1.gz" };
	char program[PATH_MAX - 128], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	program[n > 0 ? n : 0] = '\0';
	slash = strrchr(program, '/');
	for (size_t i = 0; slash && i < 4; i++) {
		snprintf(path, sizeof(path), "%.*s/%s/bpfmon%s%s.%s", (int)(slash - program),
			 program, places[i / 2], name ? "-" : "", name ? name : "", ends[i % 2]);
		if (!access(path, R_OK) && memory_realpath(path, page))
			return true;
	}
	return false;
}

/*
 * Executes man with the rights of the user who called bpfmon, since man and its pager execute what
 * the environment names. Returns only if there is no man, no page of @name, or no such user.
 */
static void manual_open(const char *name)
{
	static struct user caller; /* too large for the stack */
	char page[PATH_MAX];
	bool was_sudo;

	if (!manual_find(name, page))
		return;
	user_find_caller(&caller, &was_sudo);
	if (was_sudo && user_become(&caller))
		return;
	execlp("man", "man", page, NULL);
}

static int cmd_help(int argc, char **argv)
{
	const struct subcommand *sub = &subcommand_run;
	struct help_options o;
	int go_on = options_begin(&subcommand_help, &o, argc, argv);

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (o.common.words[0])
		sub = help_find(o.common.words[0]);
	manual_open(sub->name);
	sub->help();
	return 0;
}

const struct subcommand subcommand_help = {
	.name = "help",
	.aliases = "man",
	.summary = "open the manual page, or that of COMMAND",
	.part = PART_INFORMS,
	.words = { .most = 1, .offer = completion_offer_subcommands },
	.run = cmd_help,
	.groups = help_groups,
	.options_bytes = sizeof(struct help_options),
	.parse = help_parse,
	.help = help_help,
};
