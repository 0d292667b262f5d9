/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Merges the runs of another store or of a JSON Lines file. By their UUIDs, runs are added,
 * renewed, or left as they are.
 */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "store/database.h"
#include "store/store_writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What to do with a run of another store or file. */
enum merge_case { MERGE_ADD, MERGE_RENEW, MERGE_KNOWN, MERGE_WORDS, MERGE_BUSY };

/* The other copy of a run. */
struct merge_other {
	const char *uuid;
	bool has_ended;
	int64_t wall_ns;
	int64_t edited_ns; /* epoch; last edit of name, tags or note; 0: never */
};

struct merge_decision {
	enum merge_case what;
	int64_t id;       /* number of the run in this store; 0: added */
	bool keeps_words; /* on a renewal name, tags and note stay: their edit here is later */
};

/*
 * Decides what to do with a run. A run is renewed if it is unfinished here and not being recorded,
 * and has ended or is longer there. Otherwise a later edit there is copied. Call it within a
 * transaction. Errors as database_open().
 */
int merge_decide(struct database *d, const struct merge_other *o, struct merge_decision *what);

struct merged {
	uint64_t added, renewed; /* numbers of runs */
	uint64_t known;          /* already in this store */
	uint64_t edited;         /* of these: with a later edit */
	uint64_t busy;           /* being recorded here, left as they are */
};

void merge_count(struct merged *m, enum merge_case what);

/*
 * Sets name, tags and note of the run @id to those of the meta line @from, within the caller's
 * transaction. Errors as database_open(), here and below.
 */
typedef int (*merge_words_fn)(struct database *d, int64_t id, const char *from);
/*
 * Merges all runs of the store @path, in portions. The caller has opened it before, with that
 * @is_unchanging, and checked it by store_check_source(). A run that is copied only in part stays
 * unfinished until the next merge renews it.
 */
int merge_store(struct database *d, const char *path, bool is_unchanging, merge_words_fn take_words,
		struct merged *m);

struct import {
	struct store_writer *w; /* open; not owned */
	struct merged *merged;
	uint64_t unreadable; /* number of lines, including an incomplete last one */
};

/*
 * Imports all runs of @f, which must be seekable. After an error the runs imported before stay.
 * Returns -EBADMSG if the first line is not a meta line; other errors as database_open().
 */
int import_lines(struct import *i, FILE *f);

#endif
