/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and names as a person reads them. */
#ifndef VIEW_FORMAT_H
#define VIEW_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FORMAT_BYTES 32

/* Each writes into @out (FORMAT_BYTES) and returns it. */
char *format_bytes(char *out, uint64_t bytes);
char *format_seconds(char *out, uint64_t ns);
char *format_count(char *out, uint64_t n);
/* How many columns @text takes, what could steer a terminal shown as "?". */
size_t format_columns(const char *text);
/*
 * Writes @text so that it steers no terminal, cut on the left to @width columns; returns how many
 * it took.
 */
size_t format_name(FILE *f, const char *text, size_t width);
/* The same, with blanks after it: @width columns in any case. */
void format_padded(FILE *f, const char *text, size_t width);
/* As format_name(), but cut on the right: how a command begins says most. */
size_t format_beginning(FILE *f, const char *text, size_t width);
/*
 * Writes the lines of @text, which is harmless; what is wider than @width goes on in the next line,
 * after @indent blanks.
 */
void format_folded(FILE *f, const char *text, size_t width, size_t indent);

#endif
