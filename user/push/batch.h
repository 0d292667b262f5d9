/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts of lines, as they are compressed, divided and chosen for sending. What is said of lines is
 * true of records of OTLP, too: a text that begins with OTLP_RECORD, as no line does, has these.
 */
#ifndef PUSH_BATCH_H
#define PUSH_BATCH_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BATCH_LINES 5000
#define BATCH_BYTES (1 << 20)       /* of text; a longer line is a batch of its own */
#define BATCH_TEXT_BYTES (16 << 20) /* longest text that is read again */

/*
 * How the lines of ended jobs are written. In InfluxDB the names of jobs are strings, so that the
 * number of series does not grow with that of jobs; VictoriaMetrics has no strings. OTLP has
 * records instead of lines.
 */
enum dialect { DIALECT_UNKNOWN, DIALECT_INFLUXDB, DIALECT_VICTORIAMETRICS, DIALECT_OTLP };

/* Appends @text as gzip. Sets @to->failed if out of memory. The same text gives the same bytes. */
void batch_compress(struct buffer *to, const char *text, size_t length);
/* Appends the text of @bytes. Sets @to->failed if it is no gzip, too long, or out of memory. */
void batch_expand(struct buffer *to, const char *bytes, size_t length);
/*
 * Returns the length of the first lines of @text that are at most @lines and BATCH_BYTES, at least
 * one; sets *@nr to their number.
 */
size_t batch_cut(const char *text, size_t length, size_t lines, size_t *nr);
/* Returns the offset of the line after the first @lines. */
size_t batch_skip(const char *text, size_t length, size_t lines);
size_t batch_count(const char *text, size_t length);
/* Returns whether a batch is in the notation of @dialect: the configuration may have changed. */
bool batch_is_for(const struct buffer *t, enum dialect dialect);
/* Returns the number of lines that a batch of ended jobs has for each. */
size_t batch_row_lines(enum dialect dialect);
/*
 * Appends the lines of a batch of ended jobs in @dialect: each job has two lines in it, the first
 * for InfluxDB, but one record for OTLP.
 */
void batch_choose(struct buffer *to, const struct buffer *from, enum dialect dialect);

#endif
