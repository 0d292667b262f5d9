/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of another store, taken over. */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "store/merge_case.h"

/*
 * Gives the run @id name, tags and note of the meta line @from. Within a transaction; errors as
 * database_open(), here and below.
 */
typedef int (*merge_words_fn)(struct database *d, int64_t id, const char *from);
/*
 * All runs of the store @path, in portions. It was opened once as @is_unchanging has it, and
 * store_check_source() has called it whole. A run that is not taken over to its end has not ended
 * here, and is renewed by the next attempt.
 */
int merge_store(struct database *d, const char *path, bool is_unchanging, merge_words_fn take_words,
		struct merged *m);

#endif
