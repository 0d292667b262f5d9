/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of another store, taken over. */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "store/database.h"

#include <stdint.h>

struct merged {
	uint64_t added, renewed; /* runs; renewed: of which we had less */
	uint64_t known;          /* that were there already */
};

/* What is to be done with a run that another store or file has, by its UUID. */
enum merge_case { MERGE_ADD, MERGE_RENEW, MERGE_KNOWN };

/*
 * @id: the run's number here, 0 to add. It is renewed where it had not ended here, and has ended
 * there, or came further. Within the caller's transaction; errors as database_open(), here and
 * below.
 */
int merge_decide(struct database *d, const char *uuid, bool has_ended, int64_t wall_ns,
		 enum merge_case *what, int64_t *id);
/* All runs of the store @path, each in a transaction of its own. */
int merge_store(struct database *d, const char *path, struct merged *m);

#endif
