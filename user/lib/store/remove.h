/* SPDX-License-Identifier: BSD-2-Clause */
/* Removes runs from a store, one portion of rows per transaction, and reports its size. */
#ifndef STORE_REMOVE_H
#define STORE_REMOVE_H

#include "store/database.h"
#include "store/query.h"

/* Removes a run. Not within a transaction. Errors as database_open(), here and below. */
int remove_run(struct database *d, int64_t id);
/*
 * Removes a run from `run` and the small tables, within the caller's transaction: lists no longer
 * have it. remove_rows() removes the rest.
 */
int remove_head(struct database *d, int64_t id);
int remove_rows(struct database *d, int64_t id);
/* Remove or count rows without a run, from a removal that was interrupted or is in progress. */
int store_remove_left(struct database *d);
int count_left(struct database *d, int64_t *rows);

struct store_size {
	uint64_t file_bytes; /* with its log */
	int64_t used_bytes;  /* bytes of these in use */
	int64_t runs, samples, processes;
	int64_t oldest_ns, newest_ns; /* start times, epoch; 0: no runs */
};

/* Reads the size and contents of the store @path. */
int store_size(struct database *d, const char *path, struct store_size *size);

struct prune_limits {
	uint64_t before_ns; /* remove runs that started earlier; 0: none */
	bool has_keep;
	uint64_t keep;      /* number of newest runs to keep */
	uint64_t max_bytes; /* remove the oldest until no more is in use; 0: no limit */
};

struct pruned {
	uint64_t runs; /* removed */
	int64_t bytes; /* freed */
};

/*
 * Removes runs by @limits, the oldest first, except those being recorded. With @dry it only counts
 * them and estimates their size; @d may be read-only then.
 */
int store_prune(struct database *d, const struct prune_limits *limits, bool dry,
		struct pruned *gone);
/* Returns unused pages to the file system, one portion per transaction. */
int store_return_space(struct database *d);

#endif
