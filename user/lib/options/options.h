/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of a subcommand: parsed by its rows, and what --help prints of them. */
#ifndef OPTIONS_OPTIONS_H
#define OPTIONS_OPTIONS_H

#include "options/option.h"

/* Apply the command line, and set the words behind it. -EINVAL after one line to the user. */
int options_from_line(const struct subcommand *sub, void *options, int argc, char **argv);
/*
 * Clear the struct, apply files, variables and command line, and check how many words there are.
 * -EINVAL after one line to the user.
 */
int options_parse(const struct subcommand *sub, void *options, int argc, char **argv);
/*
 * Parse as the subcommand does, and answer --help and --version. Returns 1: go on; 0: that was all;
 * -EINVAL after one line to the user.
 */
int options_begin(const struct subcommand *sub, void *options, int argc, char **argv);
/* Returns 0 if there are no more than @most words; -EINVAL after one line to the user. */
int words_check_most(const struct common_options *o, unsigned most);
/* Print the rows, those for tests aside. */
void options_print(const struct subcommand *sub);

/* The title of the group that has these rows, and of the untitled ones behind it. */
struct option_title {
	const struct option_row *rows; /* NULL: after the last title */
	const char *title;
};

/* The same, with an empty line and the title before each group that has one. */
void options_print_titled(const struct subcommand *sub, const struct option_title *titles);

#endif
