/* SPDX-License-Identifier: BSD-2-Clause */
/* A text for a shell that is one command, of which no word is to be changed. */
#ifndef SHELL_SIMPLE_COMMAND_H
#define SHELL_SIMPLE_COMMAND_H

#include "shell/shell_words.h"

struct simple_command {
	char **words; /* owned; a NULL is behind them */
	char *text;   /* owned: what they point into */
};

/*
 * Splits the text into words, if bash would do nothing but execute them: no character has a meaning
 * for it, the first word is neither a builtin command nor a keyword, and the shell has no option
 * that matters. False, and nothing is to be freed: it is for a shell, or there is no memory.
 */
bool simple_command_read(struct simple_command *c, const struct shell_words *w);
void simple_command_done(struct simple_command *c);
/*
 * Executes them, which saves the start of a shell, as make does with such lines. Returns if that is
 * not possible, or if the environment has something for bash to read first: a shell is to do it
 * then, and reports what is wrong.
 */
void simple_command_execute(const struct simple_command *c);

#endif
