/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of a shell: the text or script to execute, and its execution by the real shell. */
#ifndef SHELL_SHELL_WORDS_H
#define SHELL_SHELL_WORDS_H

#include "run/span.h"

#include <stdbool.h>
#include <stddef.h>

/* All strings point into the arguments. */
struct shell_words {
	const char *name;                /* --span-name=NAME; NULL if absent or empty */
	const char *tags[MAX_SPAN_TAGS]; /* --span-tag=KEY=VALUE */
	size_t nr_tags;
	const char *text;   /* -c; NULL if absent */
	bool is_plain;      /* no options but -c, -e and -u, and nothing after the text */
	const char *script; /* file to execute; NULL if none */
};

/*
 * Parses @argv as bash would, up to the text or script, and removes the options --span-name and
 * --span-tag, which are for the wrapper only. A tag without a key or an equals sign is ignored.
 */
void shell_words_parse(struct shell_words *w, char **argv);

/*
 * Copies the base name of the first program in @text, cut to @size bytes with its NUL and without
 * control characters: "cc" for "set -e; cd src && CFLAGS=-g /usr/bin/cc -c a.c". Commands that only
 * prepare, such as set, cd and echo, count only if there is no other. Sets @out to "" if there is
 * none.
 */
void first_word_copy(const char *text, char *out, size_t size);
/*
 * Copies @n bytes of @text with "?" for each control character, cut between two characters to @size
 * bytes (at least 1) with the NUL.
 */
void plain_text_copy(const char *text, size_t n, char *out, size_t size);

/* A shell text that is one command whose words bash would not change. */

struct simple_command {
	char **words; /* owned; NULL-terminated */
	char *text;   /* owned; the words point into it */
};

/*
 * Splits the text into words if bash would only execute them: no character is special, the first
 * word is neither a builtin nor a keyword, and no shell option matters. Returns false, with nothing
 * to free, if a shell is needed or memory is out.
 */
bool simple_command_read(struct simple_command *c, const struct shell_words *w);
void simple_command_done(struct simple_command *c);
/*
 * Executes the command without a shell, as make does with such lines. Returns if that is not
 * possible, or if the environment has files, options or functions that bash would read first; the
 * caller then executes a shell, which reports any error.
 */
void simple_command_execute(const struct simple_command *c);

/* The shell that the wrapper replaces. */

#define REAL_SHELL "/bin/bash"

/*
 * Executes REAL_SHELL, else bash from PATH, else sh, with these arguments, but never this program
 * itself. @was_wrapper is set if another copy of the wrapper executed this one, as PATH may lead
 * back to it. Returns a negative errno if there is no shell.
 */
int real_shell_execute(char **argv, bool was_wrapper);

#endif
