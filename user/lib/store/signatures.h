/* SPDX-License-Identifier: BSD-2-Clause */
/* The signatures of runs, which the store has from the end of each run on. */
#ifndef STORE_SIGNATURES_H
#define STORE_SIGNATURES_H

#include "run/signature.h"
#include "store/database.h"
#include "store/source.h"

/*
 * Reads the memory of the run @id over its time: of a long run with one point for many samples.
 * Errors as database_open().
 */
int signature_read_shape(struct database *d, int64_t id, struct memory_shape *m);
/* Keeps the signature of the run @id, unless that is not there any more. Errors as above. */
int signature_write(struct database *d, int64_t id, const struct signature *g);
/* Takes one that is of SIGNATURE_VERSION; other than 0 ends. */
typedef int (*signature_fn)(void *context, int64_t id, const struct signature *g);
/* Gives all that the file has, by the numbers of their runs. */
int signature_each(struct database *d, signature_fn fn, void *context);

/* The signatures of runs: of one that is read, and of one whose store has none yet. */

#define SIGNED_UUID_BYTES 40

/*
 * Of all that the source gives; of a run without a summary, of what there is. @uuid: of the run;
 * empty where it has none. Errors as source_each().
 */
int signed_run_read(struct source *s, struct signature *g, char uuid[SIGNED_UUID_BYTES]);
/* Of the run @id of a store that is open. -ENODATA: it has no summary. Errors as database_open().
 */
int signed_run_of_store(struct database *d, int64_t id, struct signature *g);

#endif
