/* SPDX-License-Identifier: BSD-2-Clause */
/* Removes runs from a store, and reports its size. Each transaction removes one portion. */
#ifndef STORE_REMOVE_H
#define STORE_REMOVE_H

#include "store/database.h"
#include "store/query.h"

/* Removes a run. Call it outside of a transaction; errors as database_open(), here and below. */
int remove_run(struct database *d, int64_t id);
/* Removes the row of a run and the small tables, within the caller's transaction: no list has the
 * run from then on. remove_rows() removes the rest. */
int remove_head(struct database *d, int64_t id);
int remove_rows(struct database *d, int64_t id);
/* Remove, or count, rows without a run: a removal was interrupted, or is in progress. */
int store_remove_left(struct database *d);
int count_left(struct database *d, int64_t *rows);

struct store_size {
	uint64_t file_bytes; /* the log beside it included */
	int64_t used_bytes;  /* of these, in use */
	int64_t runs, samples, processes;
	int64_t oldest_ns, newest_ns; /* starts, epoch; 0: there is no run */
};

/* Errors as database_open(), here and below. */
int store_size(struct database *d, const char *path, struct store_size *size);

struct prune_limits {
	uint64_t before_ns; /* remove runs that started earlier; 0: none */
	bool has_keep;
	uint64_t keep;      /* keep at most so many, the newest */
	uint64_t max_bytes; /* remove the oldest until no more is in use; 0: no limit */
};

struct pruned {
	uint64_t runs; /* removed */
	int64_t bytes; /* returned to the file system */
};

/* Removes runs, the oldest first; never one that is being recorded. @dry: only counts them and
 * estimates their size; @d may be read-only then. */
int store_prune(struct database *d, const struct prune_limits *limits, bool dry,
		struct pruned *gone);
/* Returns unused pages to the file system, a portion in each transaction. */
int store_return_space(struct database *d);

#endif
