// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/options.h"

#include "base/log.h"
#include "bpfmon/mistakes.h"
#include "bpfmon/subcommand.h"
#include "bpfmon/value_guess.h"
#include "run/run.h"
#include "text/terminal.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define FIRST_LONG 256 /* getopt's values of long options, above all letters */

bool option_is_guarded(const struct option_row *row)
{
	return row->guard >= GUARD_ENVIRONMENT;
}

const struct option_row *option_at(const struct subcommand *sub, size_t i,
				   const struct option_group **group)
{
	for (const struct option_group *g = sub->groups; g && g->rows; g++)
		for (const struct option_row *row = g->rows; row->name; row++) {
			*group = g;
			if (!i--)
				return row;
		}
	return NULL;
}

int option_apply(void *options, const struct option_group *group, const struct option_row *row,
		 const char *text, const char *shown_as)
{
	int err = row->parse((char *)options + group->offset + row->offset, text);
	const char *guess;

	if (!err)
		return 0;
	guess = value_guess(row, text);
	if (err == -E2BIG)
		log_error("%s does not take '%s': a run has %d tags at most", shown_as, text,
			  MAX_TAGS);
	else if (err == -ENAMETOOLONG)
		log_error("%s takes a text of less than %d bytes", shown_as, RUN_WORD_BYTES);
	else if (guess)
		log_error("%s does not take '%s'; did you mean '%s'?", shown_as, text, guess);
	else
		log_error("%s does not take '%s': %s", shown_as, text, row->help);
	return -EINVAL;
}

int options_refuse(const char *what, const char *text)
{
	log_error("%s '%s'; see --help", what, text);
	return -EINVAL;
}

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

/* A sudoers rule "bpfmon --user *" must give no more than the rights of that user. */
static int option_check_guard(const struct option_row *row, bool *is_lowered)
{
	bool lowers = row->guard == GUARD_LOWERS;

	if (row->guard != GUARD_USER && !lowers)
		return 0;
	if (*is_lowered) {
		log_error("--%s after --user would choose a user again, and --user gave that up: "
			  "%s",
			  row->name, lowers ? "give it once" : "put it before --user");
		return -EINVAL;
	}
	*is_lowered = lowers;
	return 0;
}

/* The word that the letter stands in, which getopt may or may not have left behind. */
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
		return options_refuse("a value is missing after", argv[optind - 1]);
	if (optopt >= FIRST_LONG)
		return options_refuse("no value is taken by", argv[optind - 1]);
	return optopt ? mistaken_letter_refuse(sub, letter, letter_word(argv))
		      : mistaken_option_refuse(sub, argv[optind - 1]);
}

/* -output would be -o with the value "utput". */
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
	/* no abbreviations: the next release could give them another meaning */
	if (found >= FIRST_LONG && strcspn(word, "=") != strlen(name))
		return mistaken_option_refuse(sub, word);
	if (found < FIRST_LONG && optarg && word_is_long_name(sub, word))
		return mistaken_letter_refuse(sub, (char[]){ '-', (char)found, '\0' }, word);
	/* a command follows it, and --name=-- is a value */
	if (optarg && optarg == argv[optind - 1] && !strcmp(optarg, "--"))
		return options_refuse("a value is missing after", word);
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
	optind = 0; /* start over: with 1 glibc would keep its place within a word */
	while (!err && (found = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		err = found == ':' || found == '?'
			      ? line_refuse(sub, found, argv)
			      : line_take(sub, options, found, argv, &is_lowered);
		last = optind;
	}
	common->words = common->help || common->version ? NULL : argv + optind;
	/* only getopt's own -- moves it without being an option, or an option's value */
	common->is_after_dashes = sub->ends_at_word && optind > last;
	return err;
}

int options_parse(const struct subcommand *sub, void *options, int argc, char **argv)
{
	int err;

	memset(options, 0, sub->options_bytes);
	err = options_from_files(sub, options);
	if (!err)
		err = options_from_environment(sub, options);
	return err ? err : options_from_line(sub, options, argc, argv);
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
