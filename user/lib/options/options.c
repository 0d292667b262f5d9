// SPDX-License-Identifier: BSD-2-Clause
#include "options/options.h"

#include "base/log.h"
#include "base/nearest.h"
#include "base/user.h"
#include "options/common_options.h"
#include "options/mistakes.h"
#include "options/settings.h"
#include "text/terminal.h"
#include "version.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LONG 256 /* getopt's values of long options, above all letters */

static void getopt_fill_in(const struct subcommand *sub, char *letters, struct option *longs)
{
	const struct option_group *group;
	const struct option_row *row;

	if (sub->ends_at_word)
		*letters++ = '+';
	*letters++ = ':';
	for (size_t i = 0; i < MAX_OPTIONS && (row = option_at(sub, i, &group)); i++) {
		*longs++ = (struct option){
			.name = row->name,
			.has_arg = !row->argument              ? no_argument
				   : row->argument_is_optional ? optional_argument
							       : required_argument,
			.val = FIRST_LONG + (int)i,
		};
		if (!row->key)
			continue;
		*letters++ = row->key;
		if (row->argument)
			*letters++ = ':';
	}
	*letters = '\0';
	*longs = (struct option){ 0 };
}

static const struct option_row *option_find(const struct subcommand *sub, int found,
					    const struct option_group **group)
{
	const struct option_row *row;

	if (found >= FIRST_LONG)
		return option_at(sub, (size_t)(found - FIRST_LONG), group);
	for (size_t i = 0; (row = option_at(sub, i, group)); i++)
		if (row->key == found)
			return row;
	return NULL;
}

/* Enforces that a sudoers rule "bpfmon --user *" grants no more than the rights of that user. */
static int option_check_guard(const struct option_row *row, bool *is_lowered)
{
	bool lowers = row->guard == GUARD_LOWERS;

	if (row->guard != GUARD_USER && !lowers)
		return 0;
	if (*is_lowered) {
		log_error("--%s must not follow --user, which drops the right to choose a user: %s",
			  row->name, lowers ? "give it only once" : "put it before --user");
		return -EINVAL;
	}
	*is_lowered = lowers;
	return 0;
}

/* Returns the word that contains the letter. getopt may or may not have advanced past it. */
static const char *letter_word(char **argv)
{
	const char *here = argv[optind];

	if (here && here[0] == '-' && here[1] != '-' && strchr(here + 1, optopt))
		return here;
	return argv[optind - 1];
}

/* Reports what getopt_long() has refused. */
static int line_refuse(const struct subcommand *sub, int found, char **argv)
{
	char letter[3] = { '-', (char)optopt };

	if (found == ':')
		return options_refuse("missing value after", argv[optind - 1]);
	if (optopt >= FIRST_LONG)
		return options_refuse("unexpected value in", argv[optind - 1]);
	return optopt ? mistaken_letter_refuse(sub, letter, letter_word(argv))
		      : mistaken_option_refuse(sub, argv[optind - 1]);
}

/* Returns true for a long option with one dash: -output would be -o with the value "utput". */
static bool word_is_long_name(const struct subcommand *sub, const char *word)
{
	const struct option_group *group;
	const struct option_row *row;

	if (word[0] != '-' || word[1] == '-')
		return false;
	for (size_t i = 0; (row = option_at(sub, i, &group)); i++)
		if (!strcmp(row->name, word + 1))
			return true;
	return false;
}

static int line_take(const struct subcommand *sub, void *options, int found, char **argv,
		     bool *is_lowered)
{
	const struct option_group *group;
	const struct option_row *row = option_find(sub, found, &group);
	const char *word = argv[optind - 1 - (optarg == argv[optind - 1])];
	char name[64];

	snprintf(name, sizeof(name), "--%s", row->name);
	/* no abbreviations: a later release could change their meaning */
	if (found >= FIRST_LONG && strcspn(word, "=") != strlen(name))
		return mistaken_option_refuse(sub, word);
	if (found < FIRST_LONG && optarg && word_is_long_name(sub, word))
		return mistaken_letter_refuse(sub, (char[]){ '-', (char)found, '\0' }, word);
	/* here -- begins a command; a value -- is written --name=-- */
	if (optarg && optarg == argv[optind - 1] && !strcmp(optarg, "--"))
		return options_refuse("missing value after", word);
	if (option_check_guard(row, is_lowered))
		return -EINVAL;
	return option_apply(options, group, row, optarg, name);
}

int options_from_line(const struct subcommand *sub, void *options, int argc, char **argv)
{
	struct common_options *common = options;
	char letters[MAX_OPTIONS * 2 + 3];
	struct option longs[MAX_OPTIONS + 1];
	bool is_lowered = false;
	int found, err = 0, last = 1;

	getopt_fill_in(sub, letters, longs);
	optind = 0; /* start over: with 1 glibc would keep its position within a word */
	while (!err && (found = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		err = found == ':' || found == '?'
			      ? line_refuse(sub, found, argv)
			      : line_take(sub, options, found, argv, &is_lowered);
		last = optind;
	}
	common->words = common->help || common->version ? NULL : argv + optind;
	/* only a separating -- advances optind without being an option or a value */
	common->is_after_dashes = sub->ends_at_word && optind > last;
	return err;
}

int words_check_most(const struct common_options *o, unsigned most)
{
	for (unsigned i = 0; o->words && o->words[i]; i++)
		if (i == most)
			return options_refuse("unexpected argument", o->words[i]);
	return 0;
}

/* Refuses an unknown first word in one line. Returns -EINVAL. */
static int first_word_refuse(const struct subcommand *sub, const char *word)
{
	char known[200] = "";
	struct nearest n;

	nearest_begin(&n, word, strlen(word));
	for (const struct first_word *w = sub->words.first; w->name; w++) {
		size_t used = strlen(known);

		nearest_offer(&n, w->name);
		snprintf(known + used, sizeof(known) - used, "%s%s",
			 !used       ? ""
			 : w[1].name ? ", "
				     : ", or ",
			 w->name);
	}
	if (n.word)
		log_error("%s: unknown command '%s'; did you mean '%s'?", sub->name, word, n.word);
	else
		log_error("%s: unknown command '%s'; expected %s", sub->name, word, known);
	return -EINVAL;
}

/* Checks the words after the options against those that the subcommand takes. */
static int words_check(const struct subcommand *sub, const struct common_options *o)
{
	unsigned most = sub->words.most;
	int at;

	if (o->words && *o->words && sub->words.first) {
		at = first_word_find(sub, *o->words);
		if (at < 0 && !sub->words.takes_other_first)
			return first_word_refuse(sub, *o->words);
		if (at >= 0 && sub->words.first[at].most != ANY_WORDS)
			most = 1 + sub->words.first[at].most;
		else if (at >= 0)
			most = ANY_WORDS;
	}
	return words_check_most(o, most);
}

/* Returns true if the option was neither set by a file nor by a variable. */
static bool option_is_from_line(const char *value, const char *variable)
{
	const char *path;
	unsigned line;

	return value && value != getenv(variable) && !settings_origin(value, &path, &line);
}

/*
 * Refuses --store together with --node, which names another store; as a default it has no effect.
 */
static int stores_check(const struct subcommand *sub, const void *options)
{
	for (const struct option_group *g = sub->groups; g && g->rows; g++) {
		const struct store_options *o = (const void *)((const char *)options + g->offset);

		if (g->rows != node_rows || !o->of_node ||
		    !option_is_from_line(o->path, "BPFMON_STORE"))
			continue;
		log_error("--node reads the history of the agent and cannot be combined with "
			  "--store; to read '%s', leave out --node",
			  o->path);
		return -EINVAL;
	}
	return 0;
}

int options_parse(const struct subcommand *sub, void *options, int argc, char **argv)
{
	int err;

	memset(options, 0, sub->options_bytes);
	err = options_from_files(sub, options);
	if (!err)
		err = options_from_environment(sub, options);
	if (!err)
		err = options_from_line(sub, options, argc, argv);
	if (!err)
		err = stores_check(sub, options);
	return err ? err : words_check(sub, options);
}

int options_begin(const struct subcommand *sub, void *options, int argc, char **argv)
{
	const struct common_options *common = options;
	int err = sub->parse(options, argc, argv);

	if (err)
		return err;
	terminal_choose_colour((enum colour_choice)common->colour);
	if (common->help)
		sub->help();
	else if (common->version)
		puts("bpfmon " BPFMON_VERSION);
	return !common->help && !common->version;
}

static void option_print(const struct option_row *row)
{
	char left[64];
	int n = row->key ? snprintf(left, sizeof(left), "-%c, ", row->key)
			 : snprintf(left, sizeof(left), "    ");

	n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s", row->name);
	if (row->argument)
		snprintf(left + n, sizeof(left) - (size_t)n,
			 row->argument_is_optional ? "[=%s]" : " %s", row->argument);
	printf("  %-30s %s\n", left, row->help);
}

void options_print_titled(const struct subcommand *sub, const struct option_title *titles)
{
	for (const struct option_group *g = sub->groups; g && g->rows; g++) {
		for (const struct option_title *t = titles; t && t->rows; t++)
			if (t->rows == g->rows)
				printf("\n%s:\n", t->title);
		for (const struct option_row *row = g->rows; row->name; row++)
			if (row->guard != GUARD_TEST)
				option_print(row);
	}
}

void options_print(const struct subcommand *sub)
{
	options_print_titled(sub, NULL);
}
