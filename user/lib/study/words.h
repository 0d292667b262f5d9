/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a command line into words without a shell, and joins them. */
#ifndef STUDY_WORDS_H
#define STUDY_WORDS_H

/*
 * Splits @text at blanks, except in quotes and after a backslash. Returns the words, ended by NULL,
 * to be freed by words_free(); NULL with errno EINVAL if there is no word or a quote is not closed,
 * or ENOMEM.
 */
char **words_split(const char *text);
/* Returns a copy of @words, to be freed by words_free(); NULL without memory. */
char **words_copy(char *const *words);
/*
 * Returns the words that execute @command with @shell, which may have arguments, as in bash --norc.
 * Errors and ownership as for words_split().
 */
char **words_by_shell(const char *shell, const char *command);
/*
 * Returns a line that words_split() or a shell splits into these words, to be freed; NULL without
 * memory.
 */
char *words_quote(char *const *words);
void words_free(char **words);

#endif
