/* SPDX-License-Identifier: BSD-2-Clause */
/* Refuses mistyped command lines, each with a line that says what to type. */
#ifndef OPTIONS_MISTAKES_H
#define OPTIONS_MISTAKES_H

#include "options/option.h"

/*
 * Refuses a command without "--" before it, which may be a mistyped subcommand, or one after
 * options. @word is its place in @argv. Prints one line and returns -EINVAL.
 */
int mistaken_command_refuse(char **argv, char **word);
/* Refuses a word that is no subcommand where only a subcommand may stand. Returns -EINVAL. */
int mistaken_subcommand_refuse(const char *word);
/* Refuses the long option @word, with or without a value, which @sub lacks. Returns -EINVAL. */
int mistaken_option_refuse(const struct subcommand *sub, const char *word);
/*
 * Refuses the option @letter ("-x") of @word, maybe a long option with one dash. Returns -EINVAL.
 */
int mistaken_letter_refuse(const struct subcommand *sub, const char *letter, const char *word);

#endif
