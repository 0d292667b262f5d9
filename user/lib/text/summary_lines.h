/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the summary: time, memory, network, and limits that were exceeded. */
#ifndef TEXT_SUMMARY_LINES_H
#define TEXT_SUMMARY_LINES_H

#include "base/json.h"
#include "run/limit.h"
#include "run/summary.h"
#include "run/time_parts.h"

#include <stdio.h>

/* @has_bounds: of a peak that is not known exactly its bounds, and what they are. */
void memory_text(FILE *f, const struct summary *s, bool has_bounds);

/* Where the time went, as one bar of letters and what they stand for; and as JSON. */

/* Two lines of the summary, of which the bar fits into @width columns (0: any); nothing where
 * @total does not say. */
void time_text(FILE *f, const struct sample *total, size_t width);
/* The object "time", with the seconds and the name of each part that is known. */
void time_json(struct jsonw *j, const struct sample *total);

/* What has gone beyond a limit, for people. */

/* "rss<2GiB: 2.1 GiB after 12.3 s, most of it in python3 (123)", without control characters. */
void limit_text(FILE *f, const struct limit_hit *hit);
/* The same as a string, to be freed. NULL: there is no memory. */
char *limit_text_make(const struct limit_hit *hit);

/* The lines on what sockets moved; nothing of what was not counted, or did not happen. */
void network_text(FILE *f, const struct summary *s);

#endif
