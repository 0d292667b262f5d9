/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the runs that a user names, in stores or as files. */
#ifndef STORE_NAMED_RUN_H
#define STORE_NAMED_RUN_H

#include "store/source.h"
#include "store/stores.h"

/* What a word for a stored run (42, HOST:42, a UUID, align, align~1, align~all, ~1) may mean. */
struct run_word_rules {
	bool takes_many;   /* NAME~all: all runs of that name, the oldest first */
	bool *has_history; /* NAME alone: all of them, too, and this is set; NULL: not */
	bool is_all;       /* NAME alone: all of them, without a note */
	bool only_ended;   /* names mean only ended runs; numbers mean any */
};

/*
 * Finds the runs that @word means, or the newest one if it is NULL, and appends them to the empty
 * @all, none if there is no such run. Prints on stderr which one of several was chosen. *@is_chosen
 * is set if the word is ambiguous, or may mean another run later. Returns 0, or a negative errno
 * after an error message.
 */
int run_word_find(const struct stores *s, const char *word, const struct run_word_rules *rules,
		  struct stored_runs *all, bool *is_chosen);

/*
 * Keeps the runs in @all that any of @words (ended by NULL; no word: all) means by the same rules;
 * a name means all runs of that name. Returns 0, or a negative errno after an error message.
 */
int run_words_select(const struct stores *s, char *const *words, struct stored_runs *all);

/* Returns whether @text is a run number as in `bpfmon list`, which is never a file. */
bool run_word_is_number(const char *text, int64_t *id);

#define RUN_LABEL_BYTES 320

/* A run of a store, or a file. */
struct named_run {
	const char *file;            /* NULL if it is in a store; not owned */
	struct stored_run run;       /* if it is in a store; owned */
	char label[RUN_LABEL_BYTES]; /* user's word if it means only this run, else its number */
};

struct named_runs {
	struct stores stores;
	struct named_run *list; /* owned */
	size_t nr;
};

/*
 * Finds the runs or files of all @words (ended by NULL): a number of `bpfmon list`, HOST:NUMBER, a
 * name (its last run), NAME~1 for the one before, NAME~all, ~1, the beginning of a UUID, or a JSON
 * Lines file ("-": stdin). No word means the last run. A path with a '/' has precedence over a run
 * of that name; other file names count only if the file has a run or @is_known (may be NULL)
 * accepts it. @store selects the file of --store, the runs of the node, or the user's own stores.
 * The process drops to the rights of the user who called sudo. Returns a negative errno after an
 * error message. Call named_runs_done() in any case.
 */
int named_runs_find(struct named_runs *n, const struct store_options *store, char *const *words,
		    const struct run_word_rules *rules, bool (*is_known)(const char *path));
/* Opens run or file number @i, as stores_switch_run() does. */
int named_runs_open(const struct named_runs *n, size_t i, struct source *s);
void named_runs_done(struct named_runs *n);

/* Finds and opens one run, the last if @what is NULL. Writes its label to @label (may be NULL). */
int named_run_open(struct source *s, const struct store_options *store, const char *what,
		   char label[RUN_LABEL_BYTES]);

#endif
