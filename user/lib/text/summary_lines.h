/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the summary: time, memory, network, and limits that were exceeded. */
#ifndef TEXT_SUMMARY_LINES_H
#define TEXT_SUMMARY_LINES_H

#include "base/json.h"
#include "run/limit.h"
#include "run/summary.h"
#include "run/time_parts.h"

#include <stdio.h>

/* Writes the lines on memory. @has_bounds: with both bounds of a peak that is not known exactly. */
void memory_text(FILE *f, const struct summary *s, bool has_bounds);

/* Writes where the time went: a bar of letters in @width columns (0: any), and what they stand for.
 * Nothing if @total does not have it. */
void time_text(FILE *f, const struct sample *total, size_t width);
/* Writes the object "time" with the seconds of each part that is known. */
void time_json(struct jsonw *j, const struct sample *total);

/* Writes "rss<2GiB: 2.1 GiB after 12.3 s, most of it in python3 (123)", without control characters.
 */
void limit_text(FILE *f, const struct limit_hit *hit);
/* Returns the same as a string, to be freed; NULL without memory. */
char *limit_text_make(const struct limit_hit *hit);

/* Writes the lines on sockets; nothing of what was not counted, or did not happen. */
void network_text(FILE *f, const struct summary *s);

#endif
