/* SPDX-License-Identifier: BSD-2-Clause */
/* A text for a shell that is one command, of which no word is to be changed. */
#ifndef SHELL_SIMPLE_COMMAND_H
#define SHELL_SIMPLE_COMMAND_H

#include "shell/shell_words.h"

/*
 * The words of the text, with a NULL behind them, if bash would do nothing but execute them: no
 * character has a meaning for it, the first is neither a builtin command nor a keyword, and the
 * shell has no option that matters. NULL: it is for a shell, or there is no memory.
 */
char **simple_command_split(const struct shell_words *w);
void simple_command_free(char **words);
/*
 * Executes them, which saves the start of a shell, as make does with such lines. Returns if that is
 * not possible, or if the environment has something for bash to read first: a shell is to do it
 * then, and reports what is wrong.
 */
void simple_command_execute(char **words);

#endif
