/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the command line of a subcommand by its rows, and prints them for --help. */
#ifndef OPTIONS_OPTIONS_H
#define OPTIONS_OPTIONS_H

#include "options/option.h"

/* Applies the command line and sets the words. Returns 0, or -EINVAL after one line to the user. */
int options_from_line(const struct subcommand *sub, void *options, int argc, char **argv);
/*
 * Clears the struct, applies files, variables and command line, and checks the number of words.
 * Returns 0, or -EINVAL after one line to the user.
 */
int options_parse(const struct subcommand *sub, void *options, int argc, char **argv);
/*
 * Parses the options of the subcommand and handles --help and --version. Returns 1 to go on, 0 if
 * done, or -EINVAL after one line to the user.
 */
int options_begin(const struct subcommand *sub, void *options, int argc, char **argv);
/* Returns 0 if there are at most @most words, or -EINVAL after one line to the user. */
int words_check_most(const struct common_options *o, unsigned most);
/* Prints the rows, except those for tests. */
void options_print(const struct subcommand *sub);

/* The title of the group with these rows and of the untitled groups after it. */
struct option_title {
	const struct option_row *rows; /* NULL: end of the table */
	const char *title;
};

/* Prints the rows with an empty line and the title before each group that has one. */
void options_print_titled(const struct subcommand *sub, const struct option_title *titles);

#endif
