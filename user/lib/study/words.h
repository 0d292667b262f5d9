/* SPDX-License-Identifier: BSD-2-Clause */
/* A command line as words, without a shell. */
#ifndef STUDY_WORDS_H
#define STUDY_WORDS_H

/*
 * The words of @text, up to NULL, to be given to words_free(): blanks separate them, but not in
 * quotes, and not behind a backslash. NULL, and errno: EINVAL: there is no word, or a quote does
 * not end; ENOMEM.
 */
char **words_split(const char *text);
/* Copies of @words, in the same way. */
char **words_copy(char *const *words);
/* What executes @command by @shell, which may have arguments of its own: bash --norc. NULL in the
 * same way. */
char **words_by_shell(const char *shell, const char *command);
/* Them as a line that words_split() takes apart again, as a shell would, to be freed; NULL without
 * memory. */
char *words_quote(char *const *words);
void words_free(char **words);

#endif
