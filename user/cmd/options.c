// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/options.h"

#include "base/log.h"
#include "cmd/subcommand.h"
#include "model/run.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define FIRST_LONG 256 /* getopt's values of long options, above all letters */

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

	if (!err)
		return 0;
	if (err == -E2BIG)
		log_error("%s does not take '%s': a run has %d tags at most", shown_as, text,
			  MAX_TAGS);
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

/* Reports what getopt_long() has refused. */
static int line_refuse(int found, char **argv)
{
	char letter[3] = { '-', (char)optopt };

	if (found == ':')
		return options_refuse("a value is missing after", argv[optind - 1]);
	if (optopt >= FIRST_LONG)
		return options_refuse("no value is taken by", argv[optind - 1]);
	return options_refuse("there is no option", optopt ? letter : argv[optind - 1]);
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
		return options_refuse("there is no option", word);
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
	int found, err = 0;

	getopt_fill_in(sub, letters, longs);
	optind = 0; /* start over: with 1 glibc would keep its place within a word */
	while (!err && (found = getopt_long(argc, argv, letters, longs, NULL)) != -1)
		err = found == ':' || found == '?'
			      ? line_refuse(found, argv)
			      : line_take(sub, options, found, argv, &is_lowered);
	common->words = common->help || common->version ? NULL : argv + optind;
	return err;
}

int options_parse(const struct subcommand *sub, void *options, int argc, char **argv)
{
	int err;

	memset(options, 0, sub->options_bytes);
	err = options_from_environment(sub, options);
	return err ? err : options_from_line(sub, options, argc, argv);
}

int options_begin(const struct subcommand *sub, void *options, int argc, char **argv)
{
	const struct common_options *common = options;
	int err = sub->parse(options, argc, argv);

	if (err)
		return err;
	if (common->help)
		sub->help();
	else if (common->version)
		puts("bpfmon " BPFMON_VERSION);
	return !common->help && !common->version;
}

void options_print(const struct subcommand *sub)
{
	const struct option_group *group;
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(sub, i, &group)); i++) {
		char left[64];
		int n = row->key ? snprintf(left, sizeof(left), "-%c, ", row->key)
				 : snprintf(left, sizeof(left), "    ");

		if (row->guard == GUARD_TEST)
			continue;
		n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s", row->name);
		if (row->argument)
			snprintf(left + n, sizeof(left) - (size_t)n,
				 row->argument_is_optional ? "[=%s]" : " %s", row->argument);
		printf("  %-30s %s\n", left, row->help);
	}
}
