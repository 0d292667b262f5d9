/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of a shell: the text or script to execute, and executing it with the real one. */
#ifndef SHELL_SHELL_WORDS_H
#define SHELL_SHELL_WORDS_H

#include "run/span.h"

#include <stdbool.h>
#include <stddef.h>

/* All of it points into the arguments. */
struct shell_words {
	const char *name;                /* of --span-name=NAME; NULL: none, or an empty one */
	const char *tags[MAX_SPAN_TAGS]; /* of --span-tag=KEY=VALUE */
	size_t nr_tags;
	const char *text;   /* of -c; NULL: none */
	bool is_plain;      /* no options but -c, -e and -u, and nothing behind the text */
	const char *script; /* the file to execute; NULL: none */
};

/*
 * Reads @argv as bash would, up to the text or script, and takes the options --span-name and
 * --span-tag out of it, which are for the wrapper alone. A tag without a key or an equals sign is
 * ignored.
 */
void shell_words_take(struct shell_words *w, char **argv);

/* What a shell's text executes first. */

/*
 * Copies the base name of the first program in @text, cut to @size bytes with its NUL and free of
 * control characters: "cc" for "set -e; cd src && CFLAGS=-g /usr/bin/cc -c a.c". Commands that only
 * prepare, such as set, cd and echo, count where there is no other. Empty: there is none.
 */
void first_word_copy(const char *text, char *out, size_t size);
/*
 * Copies @n bytes of @text, cut between two characters to @size bytes with the NUL (1 at least),
 * each control character as "?".
 */
void plain_text_copy(const char *text, size_t n, char *out, size_t size);

/* A text for a shell that is one command, of which no word is to be changed. */

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

/* The shell that the wrapper stands for. */

#define REAL_SHELL "/bin/bash"

/*
 * Executes REAL_SHELL, or else bash from PATH, or else sh, with these arguments; never this program
 * itself. @was_wrapper: another copy of it has executed this one, and PATH leads
 * back to that.
 * Returns only when there is none: a negative errno.
 */
int real_shell_execute(char **argv, bool was_wrapper);

#endif
