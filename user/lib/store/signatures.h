/* SPDX-License-Identifier: BSD-2-Clause */
/* The signatures of runs: stored at the end of each run, or worked out from its lines. */
#ifndef STORE_SIGNATURES_H
#define STORE_SIGNATURES_H

#include "run/signature.h"
#include "store/database.h"
#include "store/source.h"

/*
 * Reads the memory of the run @id over time; a long run has one point for many samples. Errors as
 * database_open().
 */
int signature_read_shape(struct database *d, int64_t id, struct memory_shape *m);
/* Stores the signature of the run @id, unless the run has been removed. Errors as above. */
int signature_write(struct database *d, int64_t id, const struct signature *g);
/* Receives a signature of SIGNATURE_VERSION; other than 0 ends. */
typedef int (*signature_fn)(void *context, int64_t id, const struct signature *g);
/* Passes all signatures of the file to @fn, in the order of their runs. */
int signature_each(struct database *d, signature_fn fn, void *context);

#define SIGNED_UUID_BYTES 40

/*
 * Works out the signature of a source; if it has no summary, from the lines that it has. Writes the
 * UUID of the run, or an empty string. Errors as source_each().
 */
int signed_run_read(struct source *s, struct signature *g, char uuid[SIGNED_UUID_BYTES]);
/* Works out the signature of the run @id. -ENODATA: it has no summary; errors as database_open().
 */
int signed_run_of_store(struct database *d, int64_t id, struct signature *g);

#endif
