/* SPDX-License-Identifier: BSD-2-Clause */
/* Merges the runs of another store: each is added, renewed, or left as it is, by its UUID. */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "store/database.h"

#include <stdbool.h>
#include <stdint.h>

/* What is done with a run of another store or file. */
enum merge_case { MERGE_ADD, MERGE_RENEW, MERGE_KNOWN, MERGE_WORDS, MERGE_BUSY };

/* A run in the other store or file. */
struct merge_other {
	const char *uuid;
	bool has_ended;
	int64_t wall_ns;
	int64_t edited_ns; /* of the last edit of name, tags or note; 0: never */
};

struct merge_decision {
	enum merge_case what;
	int64_t id;       /* the run's number here; 0: it is added */
	bool keeps_words; /* renewed, but name, tags and note stay: their edit here is later */
};

/*
 * Decides what to do with a run. It is renewed if it is unfinished here and not being recorded, and
 * has ended or is longer there. Otherwise a later edit there is taken over. Call it within a
 * transaction; errors as database_open().
 */
int merge_decide(struct database *d, const struct merge_other *o, struct merge_decision *what);

struct merged {
	uint64_t added, renewed; /* runs */
	uint64_t known;          /* runs that were here already */
	uint64_t edited;         /* of these: runs that got a later edit */
	uint64_t busy;           /* runs that are being written here, and stay as they are */
};

void merge_count(struct merged *m, enum merge_case what);

/*
 * Sets name, tags and note of the run @id to those of the meta line @from. Called within a
 * transaction; errors as database_open(), here and below.
 */
typedef int (*merge_words_fn)(struct database *d, int64_t id, const char *from);
/*
 * Merges all runs of the store @path, in portions. The caller has opened it before, with that
 * @is_unchanging, and checked it by store_check_source(). A run that is copied only in part stays
 * unfinished here, and the next attempt renews it.
 */
int merge_store(struct database *d, const char *path, bool is_unchanging, merge_words_fn take_words,
		struct merged *m);

#endif
