/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the rows of `run`, `run_text` and `tag`, from the meta and the summary line. */
#ifndef STORE_RUN_ROW_H
#define STORE_RUN_ROW_H

#include "store/store_writer.h"

/* Write w->line; @text is the line itself. Errors as database_open(). */
int run_row_begin(struct store_writer *w, const char *text, size_t length);
int run_row_end(struct store_writer *w, const char *text, size_t length);

#endif
