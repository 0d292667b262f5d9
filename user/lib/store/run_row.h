/* SPDX-License-Identifier: BSD-2-Clause */
/* The row of the run itself: of its meta, and of its summary. */
#ifndef STORE_RUN_ROW_H
#define STORE_RUN_ROW_H

#include "store/store_writer.h"

/* @text: the line that has been read into w->line. */
int run_row_begin(struct store_writer *w, const char *text, size_t length);
int run_row_end(struct store_writer *w, const char *text, size_t length);

#endif
