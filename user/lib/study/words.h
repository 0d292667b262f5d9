/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a command line into words without a shell, and joins them. */
#ifndef STUDY_WORDS_H
#define STUDY_WORDS_H

/*
 * Returns the words of @text, ended by NULL, to be freed by words_free(). Blanks separate them,
 * except in quotes and after a backslash. Returns NULL and sets errno: EINVAL: no word, or an open
 * quote; ENOMEM.
 */
char **words_split(const char *text);
/* Returns a copy of @words, in the same way. */
char **words_copy(char *const *words);
/* Returns the words that execute @command by @shell, which may have arguments, as in bash --norc;
 * in the same way. */
char **words_by_shell(const char *shell, const char *command);
/* Returns a quoted line that words_split(), or a shell, splits into the same words, to be freed;
 * NULL without memory. */
char *words_quote(char *const *words);
void words_free(char **words);

#endif
