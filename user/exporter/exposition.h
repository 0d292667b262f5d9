/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of a scrape, in the format that the client accepts. */
#ifndef EXPORTER_EXPOSITION_H
#define EXPORTER_EXPOSITION_H

#include "board/board.h"
#include "export/openmetrics.h"

/* For board_init(). */
extern const struct board_style exposition_style;

/*
 * Appends the text of all metrics. The caller holds the lock and has called board_prepare(). Sets
 * @t->failed if out of memory.
 */
void exposition_write(struct buffer *t, const struct board *b, enum exposition as);
/*
 * Returns the format that the header @accept prefers: the older format, unless it names the other.
 * @accept is NULL if the client sent no such header.
 */
enum exposition exposition_choose(const char *accept);
/* Returns the value of Content-Type. */
const char *exposition_content_type(enum exposition as);
/* Appends a Markdown table with a row for each possible metric. */
void exposition_list(struct buffer *t);

#endif
