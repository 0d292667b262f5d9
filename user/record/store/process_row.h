/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of processes: of their records, and of what live ones held at a sample. */
#ifndef RECORD_STORE_PROCESS_ROW_H
#define RECORD_STORE_PROCESS_ROW_H

#include "record/store/writer.h"

/* Each puts what has been read into w->line. Errors as database_open(). */
int process_row_put(struct store_writer *w);
int process_sample_row_put(struct store_writer *w);

#endif
