/* SPDX-License-Identifier: BSD-2-Clause */
/* The signatures of runs: of one that is read, and of one whose store has none yet. */
#ifndef STORE_SIGNED_RUN_H
#define STORE_SIGNED_RUN_H

#include "run/signature.h"
#include "store/source.h"

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
