/* SPDX-License-Identifier: BSD-2-Clause */
/* Signatures of runs: stored at the end of each run, or computed from its lines. */
#ifndef STORE_SIGNATURES_H
#define STORE_SIGNATURES_H

#include "run/signature.h"
#include "store/database.h"
#include "store/source.h"

/*
 * Reads the memory of the run @id over time, as rows_of_blocks() has it. Errors as database_open(),
 * here and below.
 */
int signature_read_shape(struct database *d, int64_t id, struct memory_shape *m);
/* Stores the signature of the run @id, unless the run has been removed. */
int signature_write(struct database *d, int64_t id, const struct signature *g);
/* Receives a signature of SIGNATURE_VERSION. A result other than 0 ends the reading. */
typedef int (*signature_fn)(void *context, int64_t id, const struct signature *g);
/* Passes all signatures in the store to @fn, in the order of runs. */
int signature_each(struct database *d, signature_fn fn, void *context);

#define SIGNED_UUID_BYTES 40

/*
 * Computes the signature of a source, from its lines if it has no summary. Writes the run's UUID,
 * or an empty string, and its command as lists have it, which the caller frees, or NULL. @command
 * may be NULL. Errors as source_each().
 */
int signed_run_read(struct source *s, struct signature *g, char uuid[SIGNED_UUID_BYTES],
		    char **command);
/*
 * Computes the signature of the run @id. Returns -ENODATA if it has no summary; other errors as
 * database_open().
 */
int signed_run_of_store(struct database *d, int64_t id, struct signature *g);

#endif
