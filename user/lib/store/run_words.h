/* SPDX-License-Identifier: BSD-2-Clause */
/* Words that name runs of the stores: 42, HOST:42, a UUID, align, align~1, align~all, ~1. */
#ifndef STORE_RUN_WORDS_H
#define STORE_RUN_WORDS_H

#include "store/stores.h"

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

#endif
