/* SPDX-License-Identifier: BSD-2-Clause */
/* bpfmon store merge, file by file: another store, or a run in JSON Lines. */
#ifndef CMD_STORE_MERGE_H
#define CMD_STORE_MERGE_H

#include "record/store/writer.h"
#include "store/merge.h"

/*
 * Adds the runs of the file @path to the store at @store, which @w has open, and counts them in @m.
 * The store itself is passed over. A negative errno after one line to the user.
 */
int store_merge_file(struct store_writer *w, const char *store, const char *path, struct merged *m);

#endif
