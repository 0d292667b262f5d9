/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of another store, taken over. */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "store/database.h"

#include <stdbool.h>
#include <stdint.h>

/* What a merge does with a run of elsewhere, and how many runs there were of each case. */

/* What is to be done with a run that another store or file has, by its UUID. */
enum merge_case { MERGE_ADD, MERGE_RENEW, MERGE_KNOWN, MERGE_WORDS, MERGE_BUSY };

/* A run as another store or file has it. */
struct merge_other {
	const char *uuid;
	bool has_ended;
	int64_t wall_ns;
	int64_t edited_ns; /* when its name, tags or note were edited last; 0: never */
};

struct merge_decision {
	enum merge_case what;
	int64_t id;       /* the run's number here; 0: it is added */
	bool keeps_words; /* those here were edited later: it is renewed without losing them */
};

/*
 * It is renewed where it had not ended here and is not being recorded, and has ended there, or came
 * further. Else, where it was edited later there, it gets the words of that edit. Within the
 * caller's transaction; errors as database_open().
 */
int merge_decide(struct database *d, const struct merge_other *o, struct merge_decision *what);

struct merged {
	uint64_t added, renewed; /* runs; renewed: of which we had less */
	uint64_t known;          /* that were there already */
	uint64_t edited;         /* of these: that were edited later there, and are called so now */
	uint64_t busy;           /* that are being written here just now, and were left alone */
};

void merge_count(struct merged *m, enum merge_case what);

/*
 * Gives the run @id name, tags and note of the meta line @from. Within a transaction; errors as
 * database_open(), here and below.
 */
typedef int (*merge_words_fn)(struct database *d, int64_t id, const char *from);
/*
 * All runs of the store @path, in portions. It was opened once as @is_unchanging has it, and
 * store_check_source() has called it whole. A run that is not taken over to its end has not ended
 * here, and is renewed by the next attempt.
 */
int merge_store(struct database *d, const char *path, bool is_unchanging, merge_words_fn take_words,
		struct merged *m);

#endif
