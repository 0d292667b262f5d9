/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the rows of a run itself, in `run`, `run_text`, `tag` and `signature`. */
#ifndef STORE_RUN_ROW_H
#define STORE_RUN_ROW_H

#include "store/store_writer.h"

/*
 * Write w->line, at the begin the meta line, at the end the summary; @text is its text. Errors as
 * database_open().
 */
int run_row_begin(struct store_writer *w, const char *text, size_t length);
int run_row_end(struct store_writer *w, const char *text, size_t length);

#endif
