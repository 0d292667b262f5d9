/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the rows of a run itself, in `run`, `run_text`, `tag` and `signature`. */
#ifndef STORE_RUN_ROW_H
#define STORE_RUN_ROW_H

#include "store/store_writer.h"

#include <jansson.h>

/*
 * Write w->line, at the begin the meta line, at the end the summary; @text is its text. Errors as
 * database_open().
 */
int run_row_begin(struct store_writer *w, const char *text, size_t length);
int run_row_end(struct store_writer *w, const char *text, size_t length);
/*
 * Returns the command of a meta line, or what was attached to, as the one line that the row has. It
 * is to be freed; NULL if it is absent or without memory.
 */
char *run_command_text(const json_t *meta);

#endif
