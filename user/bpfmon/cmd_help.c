// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon help [COMMAND]: opens the manual page, at the section of a subcommand. */
#include "base/memory.h"
#include "options/common_options.h"
#include "options/mistakes.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "base/user.h"
#include "options/completion.h"
#include "bpfmon/subcommands.h"

#include <ctype.h>
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
	puts("Usage: bpfmon help [COMMAND]\n"
	     "\n"
	     "Opens the manual page with man(1), at the section of COMMAND if given. Without "
	     "man(1)\n"
	     "or the page, prints the output of `bpfmon COMMAND --help`.\n");
	options_print(&subcommand_help);
	puts("Exit status: that of man(1), or 0 without it; 2: no such subcommand.");
}

/*
 * Finds the page relative to this program: in ../docs of a build folder, or in ../share of an
 * installation. Returns false if there is none.
 */
static bool manual_find(char page[PATH_MAX])
{
	static const char *const places[] = { "../docs/bpfmon.1", "../share/man/man1/bpfmon.1",
					      "../share/man/man1/bpfmon.1.gz" };
	char program[PATH_MAX - 64], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	program[n > 0 ? n : 0] = '\0';
	slash = strrchr(program, '/');
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - program), program, places[i]);
		if (!access(path, R_OK) && memory_realpath(path, page))
			return true;
	}
	return false;
}

/* Returns true if the user has chosen no pager, so that man starts less. */
static bool pager_is_default(void)
{
	const char *man = getenv("MANPAGER"), *any = getenv("PAGER");

	return !(man && *man) && !(any && *any);
}

/*
 * Executes man with the rights of the user who called bpfmon, since man and its pager execute what
 * the environment names. @name is the subcommand, or NULL for the beginning of the page. Returns
 * only if there is no man, no page, or no such user.
 */
static void manual_open(const char *name)
{
	static struct user caller; /* too large for the stack */
	char page[PATH_MAX], pager[64];
	bool was_sudo;
	int n;

	if (!manual_find(page))
		return;
	user_find_caller(&caller, &was_sudo);
	if (was_sudo && user_become(&caller))
		return;
	if (name && pager_is_default()) { /* section titles are at the margin, in capitals */
		n = snprintf(pager, sizeof(pager), "less -R +/^");
		for (; *name && n < (int)sizeof(pager) - 1; name++)
			pager[n++] = (char)toupper((unsigned char)*name);
		pager[n] = '\0';
		execlp("man", "man", "-P", pager, page, NULL);
	} else {
		execlp("man", "man", page, NULL);
	}
}

static int cmd_help(int argc, char **argv)
{
	const struct subcommand *sub = &subcommand_run;
	struct help_options o;
	int go_on = options_begin(&subcommand_help, &o, argc, argv);

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (o.common.words[0])
		sub = subcommand_find(o.common.words[0]);
	manual_open(sub->name);
	if (sub->help)
		sub->help();
	else
		printf("bpfmon %s: %s\n", sub->name, sub->summary);
	return 0;
}

const struct subcommand subcommand_help = {
	.name = "help",
	.aliases = "man",
	.summary = "open the manual page, at the section of COMMAND",
	.part = PART_INFORMS,
	.words = { .most = 1, .offer = completion_offer_subcommands },
	.run = cmd_help,
	.groups = help_groups,
	.options_bytes = sizeof(struct help_options),
	.parse = help_parse,
	.help = help_help,
};
