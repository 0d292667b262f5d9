/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of a scrape, in the format that the client asks for. */
#ifndef EXPORTER_EXPOSITION_H
#define EXPORTER_EXPOSITION_H

#include "exporter/board.h"
#include "export/openmetrics.h"

/* Appends the text of all metrics. The caller holds the lock and has called board_prepare().
 * Without memory @t->failed is set. */
void exposition_write(struct buffer *t, const struct board *b, enum exposition as);
/* What a client that sends @accept (NULL: it does not) prefers; the older format unless it names
 * the other. */
enum exposition exposition_choose(const char *accept);
/* The value of Content-Type. */
const char *exposition_content_type(enum exposition as);
/* Appends a row for each metric that may be there, as docs/PROMETHEUS.md has them. */
void exposition_list(struct buffer *t);

#endif
