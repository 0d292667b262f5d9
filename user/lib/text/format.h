/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and names for people. */
#ifndef TEXT_FORMAT_H
#define TEXT_FORMAT_H

#include "base/buffer.h"
#include "run/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FORMAT_BYTES 32
#define MOMENT_BYTES 64

/*
 * Marks of style in a text. They take no columns, and no name that is printed by format_name() can
 * contain one. terminal_paint() replaces or removes them.
 */
#define STYLED_ALARM "\x01"   /* a failure, a loss, a regression; up to STYLED_END */
#define STYLED_RUNNING "\x02" /* a run that goes on; up to STYLED_END */
#define STYLED_END "\x03"
#define STYLED_MARKS STYLED_ALARM STYLED_RUNNING STYLED_END

/* Each writes into @out (FORMAT_BYTES) and returns it. */
char *format_bytes(char *out, uint64_t bytes);
char *format_seconds(char *out, uint64_t ns);
char *format_count(char *out, uint64_t n);
/*
 * Writes a moment (ns since 1970) into @out (MOMENT_BYTES) as local time with the name of its zone,
 * "2025-12-24 18:30:05 CET", the seconds only if @has_seconds; "-" for what is no date. Returns
 * @out.
 */
char *format_moment(char *out, uint64_t epoch_ns, bool has_seconds);
/* Returns the columns that @text takes. A control character is shown as "?". */
size_t format_columns(const char *text);
/*
 * Writes @text without control characters, cut on the left to @width columns. Returns the columns
 * used.
 */
size_t format_name(FILE *f, const char *text, size_t width);
/* As format_name(), padded with blanks to @width columns. */
void format_padded(FILE *f, const char *text, size_t width);
/* As format_name(), but cut on the right: the beginning of a command matters most. */
size_t format_beginning(FILE *f, const char *text, size_t width);
/*
 * Writes the lines of @text, which has no control characters; a line wider than @width continues in
 * the next, after @indent blanks.
 */
void format_folded(FILE *f, const char *text, size_t width, size_t indent);

/* Removes the marks of style from @text. */
void format_drop_styles(char *text);
/* Writes the text of @t with format_folded() and frees it. Returns -ENOMEM, also if a write to @t
 * has failed before. */
int format_folded_buffer(FILE *f, struct buffer *t, size_t width, size_t indent);

/* Values of comparisons. */

#define NUMBER_BYTES 48

/* Returns @value rounded to two digits more than the unit has: quartiles have these, and further
 * digits are noise of floating point. */
double number_as_measured(enum metric_unit unit, double value);
/* Write into @out (NUMBER_BYTES) and return it: the value, */
char *number_format(char *out, enum metric_unit unit, double value);
/* a difference with its sign, */
char *number_difference(char *out, enum metric_unit unit, double value);
/* a relative difference in percent with its sign, or from 10 on as a factor. */
char *number_relative(char *out, double part);

#endif
