/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats numbers, times and names for people, and marks styles in text. */
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
#define TEXT_UNCUT ((size_t)1 << 24) /* as a width: wider than any cell */

/*
 * Style marks within a text. They take no columns. The output of format_name() never contains one.
 * terminal_paint() replaces them by colours or removes them.
 */
#define STYLED_ALARM "\x01"   /* failure, loss or regression, up to STYLED_END */
#define STYLED_RUNNING "\x02" /* unfinished run, up to STYLED_END */
#define STYLED_END "\x03"
#define STYLED_MARKS STYLED_ALARM STYLED_RUNNING STYLED_END

/* Each function writes into @out (FORMAT_BYTES) and returns it. */
char *format_bytes(char *out, uint64_t bytes);
/* The notation of all durations: 12.3 ms, 39.5 s, 33 min 44 s, 33 h 24 min, 5 d 2 h. */
char *format_seconds(char *out, uint64_t ns);
char *format_count(char *out, uint64_t n);
/* A value in the unit as stored, which has metric_unit_decimals() decimals. */
char *format_value(char *out, enum metric_unit unit, uint64_t value);
/* Writes "39.5 of 41.9 s" into @out (2 * FORMAT_BYTES) and returns it. */
char *format_seconds_of(char *out, uint64_t part_ns, uint64_t whole_ns);
/*
 * Formats @epoch_ns (since 1970) into @out (MOMENT_BYTES) as local time with its zone, such as
 * "2025-12-24 18:30:05 CET", without seconds unless @has_seconds, or as "-" if it is no valid date.
 * Returns @out.
 */
char *format_moment(char *out, uint64_t epoch_ns, bool has_seconds);
/* Returns the terminal columns of @text. A control character takes one, as "?". */
size_t format_columns(const char *text);
/*
 * Writes @text with "?" for control characters. Text wider than @width columns loses its beginning,
 * which becomes "..." if @width is larger than that. Returns the columns used.
 */
size_t format_name(FILE *f, const char *text, size_t width);
/* Like format_name(), but cuts the middle: names and commands differ at their beginning or end. */
size_t format_middle(FILE *f, const char *text, size_t width);
/* Like format_name(), padded with blanks to @width columns. */
void format_padded(FILE *f, const char *text, size_t width);
/* Like format_name(), with the padding before it. */
void format_padded_left(FILE *f, const char *text, size_t width);
/* Like format_name(), but cuts the end, with "...": the beginning of a command matters most. */
size_t format_beginning(FILE *f, const char *text, size_t width);
/*
 * Writes the lines of @text, which has no control characters except style marks. A line wider than
 * @width is continued on the next line after @indent blanks.
 */
void format_folded(FILE *f, const char *text, size_t width, size_t indent);

void format_drop_styles(char *text);
/*
 * Writes the text of @t with format_folded() and frees it. Returns -ENOMEM if this or an earlier
 * write to @t failed.
 */
int format_folded_buffer(FILE *f, struct buffer *t, size_t width, size_t indent);

/* Values of comparisons. */

#define NUMBER_BYTES 48

/*
 * Rounds @value to two digits more than its unit has. Quartiles need them; further digits are
 * floating-point noise.
 */
double number_drop_noise(enum metric_unit unit, double value);
/* Formats a value into @out (NUMBER_BYTES). Returns @out. */
char *number_format(char *out, enum metric_unit unit, double value);
/* Formats a difference with its sign. */
char *number_difference(char *out, enum metric_unit unit, double value);
/* Formats a relative difference in percent with its sign, or as a factor from 10 on. */
char *number_relative(char *out, double part);

#endif
