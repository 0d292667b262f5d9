/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs taken out of a store, a portion a transaction. */
#ifndef STORE_REMOVE_H
#define STORE_REMOVE_H

#include "store/database.h"
#include "store/query.h"

/* Outside of a transaction; errors as database_open(), here and below. */
int remove_run(struct database *d, int64_t id);
/* Its row and the few others that describe it, within the caller's transaction: no list has it
 * from then on. The rest is left to remove_rows(). */
int remove_head(struct database *d, int64_t id);
int remove_rows(struct database *d, int64_t id);
/* Rows whose run is gone: of a removal that was ended halfway, or still goes on. */
int store_remove_left(struct database *d);
int count_left(struct database *d, int64_t *rows);

/* What a store takes, and how it is made smaller. */

struct store_size {
	uint64_t file_bytes; /* the log beside it included */
	int64_t used_bytes;  /* of these what is in use */
	int64_t runs, samples, processes;
	int64_t oldest_ns, newest_ns; /* starts, epoch; 0: there is no run */
};

/* Errors as database_open(), here and below. */
int store_size(struct database *d, const char *path, struct store_size *size);

struct prune_limits {
	uint64_t before_ns; /* runs that began earlier go; 0: none */
	bool has_keep;
	uint64_t keep;      /* so many stay, the newest */
	uint64_t max_bytes; /* the oldest go until no more is in use; 0: whatever it is */
};

struct pruned {
	uint64_t runs; /* that went */
	int64_t bytes; /* given back to the file system */
};

/* Removes runs, the oldest first; never one that is being recorded. @dry: says
 * only how many, and about how much they take; @d may be open to be read only. */
int store_prune(struct database *d, const struct prune_limits *limits, bool dry,
		struct pruned *gone);
/* Gives what is unused back to the file system, a portion a transaction. */
int store_return_space(struct database *d);

#endif
