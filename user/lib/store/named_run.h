/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the runs that a user names: in the stores, or files. */
#ifndef STORE_NAMED_RUN_H
#define STORE_NAMED_RUN_H

#include "store/source.h"
#include "store/stores.h"

/* What a word for a run of the stores (42, HOST:42, a UUID, align, align~1, align~all, ~1) may
 * mean. */
struct run_word_rules {
	bool takes_many; /* NAME~all: all runs of that name, the oldest first */
	bool takes_pair; /* NAME alone: its last two, the older one first */
	bool only_ended; /* a name means only runs that have ended; a number any run */
};

/*
 * Finds the runs that @word means, or the newest one for NULL, and appends them to the empty @all.
 * Prints on stderr which one of several was chosen. Returns 0 with an empty list if there is no
 * such run. *@is_chosen: the word is ambiguous, or may mean another run later. Returns a negative
 * errno after one line to the user.
 */
int run_word_find(const struct stores *s, const char *word, const struct run_word_rules *rules,
		  struct stored_runs *all, bool *is_chosen);

/* Returns whether @text is a number of `bpfmon list`, which is never a file. */
bool run_word_is_number(const char *text, int64_t *id);

#define RUN_LABEL_BYTES 320

/* A run of a store, or a file. */
struct named_run {
	const char *file;            /* NULL: of a store; not owned */
	struct stored_run run;       /* of a store; owned */
	char label[RUN_LABEL_BYTES]; /* as it was named, if that means this run only; its number */
};

struct named_runs {
	struct stores stores;
	struct named_run *list; /* owned */
	size_t nr;
};

/*
 * Finds what the @words (ended by NULL) mean: a number of `bpfmon list`, HOST:NUMBER, a name, which
 * is its last run, NAME~1 for the one before, NAME~all, ~1, the beginning of a UUID, or a file of
 * JSON Lines ("-": stdin). No word means the last run. A path with a '/' is preferred to a run of
 * that name; without it, only if the file has a run or @is_known (may be NULL) accepts it. @store:
 * the file of --store, or the runs of the node; otherwise the user's own stores. The process takes
 * the rights of the user who called sudo. Returns a negative errno after one line to the user; call
 * named_runs_done() in any case.
 */
int named_runs_find(struct named_runs *n, const struct store_options *store, char *const *words,
		    const struct run_word_rules *rules, bool (*is_known)(const char *path));
/* Opens one of them, as stores_turn_run() does. A negative errno after one line to the user. */
int named_runs_open(const struct named_runs *n, size_t i, struct source *s);
void named_runs_done(struct named_runs *n);

/* Finds and opens one run; @what NULL: the last. @label, unless NULL, receives its label. */
int named_run_open(struct source *s, const struct store_options *store, const char *what,
		   char label[RUN_LABEL_BYTES]);

#endif
