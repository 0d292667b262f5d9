/* SPDX-License-Identifier: BSD-2-Clause */
/* Mistyped command lines: each is refused in one line that says what to type. */
#ifndef OPTIONS_MISTAKES_H
#define OPTIONS_MISTAKES_H

#include "options/option.h"

/*
 * Refuses the command of a run that is not behind "--": it may be a subcommand that was mistyped,
 * or one that stands behind options. @word: where it begins in @argv. -EINVAL after the line.
 */
int mistaken_command_refuse(char **argv, char **word);
/* Refuses a word that names no subcommand, where only one can stand. -EINVAL. */
int mistaken_subcommand_refuse(const char *word);
/* Refuses the long option @word, with or without a value, that @sub has not. -EINVAL. */
int mistaken_option_refuse(const struct subcommand *sub, const char *word);
/* Refuses the option @letter, as in "-x", of @word; that may be a long one with a single dash.
 * -EINVAL. */
int mistaken_letter_refuse(const struct subcommand *sub, const char *letter, const char *word);

#endif
