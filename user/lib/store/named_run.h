/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs that a user names: of the stores, or files. */
#ifndef STORE_NAMED_RUN_H
#define STORE_NAMED_RUN_H

#include "store/source.h"
#include "store/stores.h"

/* Words that name runs of the stores: 42, HOST:42, a UUID, align, align~1, align~all, ~1. */

/* What a word may mean. */
struct run_word_rules {
	bool takes_many; /* NAME~all: all runs of that name, the oldest first */
	bool takes_pair; /* NAME alone: its last two, the older one first */
	bool only_ended; /* of a name only runs that have ended; a number is taken as it is */
};

/*
 * The runs that @word means, into the empty @all; NULL: the last one that began. Which one of
 * several was taken is said on stderr. None, and 0: there is no such run, which is not reported.
 * *@is_chosen: the word alone does not say which, or may say another one later. A negative errno
 * after one line to the user.
 */
int run_word_find(const struct stores *s, const char *word, const struct run_word_rules *rules,
		  struct stored_runs *all, bool *is_chosen);

/* Whether it is a number of `bpfmon list`, which never is a file. */
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
 * Finds what the @words mean, up to NULL: a number of `bpfmon list`, HOST:NUMBER, a name, which is
 * the last run of it, NAME~1 for the one before, NAME~all, ~1, the beginning of a UUID, or a file
 * of JSON Lines ("-": stdin). Without a word it is the last run. A path with a '/' is preferred to
 * a run of that name; without it only if the file holds a run, or if @is_known (may be NULL)
 * accepts it. @store: the file that --store names, or the runs of the node; else the user's own
 * stores. The process takes the rights of the user who called sudo. A negative errno after one line
 * to the user; named_runs_done() in any case.
 */
int named_runs_find(struct named_runs *n, const struct store_options *store, char *const *words,
		    const struct run_word_rules *rules, bool (*is_known)(const char *path));
/* Opens one of them, as stores_turn_run() does. A negative errno after one line to the user. */
int named_runs_open(const struct named_runs *n, size_t i, struct source *s);
void named_runs_done(struct named_runs *n);

/* Both for one run; @what of NULL: the last. @label, unless NULL, gets what to call it. */
int named_run_open(struct source *s, const struct store_options *store, const char *what,
		   char label[RUN_LABEL_BYTES]);

#endif
