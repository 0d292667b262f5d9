/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of spans. */
#ifndef RECORD_STORE_SPAN_ROW_H
#define RECORD_STORE_SPAN_ROW_H

#include "record/store/writer.h"

/*
 * Puts the span that has been read into w->line, from @text of @length bytes. A line that is larger
 * than any that bpfmon writes is counted as one that cannot be read. Errors as database_open().
 */
int span_row_put(struct store_writer *w, const char *text, size_t length);

#endif
