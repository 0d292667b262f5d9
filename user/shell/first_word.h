/* SPDX-License-Identifier: BSD-2-Clause */
/* What a shell's text executes first. */
#ifndef SHELL_FIRST_WORD_H
#define SHELL_FIRST_WORD_H

#include <stddef.h>

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

#endif
