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
/*
 * Writes @text, what could steer a terminal shown as "?", cut on the left to @width columns;
 * returns how many it took.
 */
size_t format_name(FILE *f, const char *text, size_t width);
/* The same, cut on the right: how a command begins says most. */
void format_beginning(FILE *f, const char *text, size_t width);

#endif
