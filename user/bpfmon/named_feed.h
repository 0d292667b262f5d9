/* SPDX-License-Identifier: BSD-2-Clause */
/* The live feed of a run that a user names. */
#ifndef BPFMON_NAMED_FEED_H
#define BPFMON_NAMED_FEED_H

#include "options/common_options.h"

#define FEED_NAME_BYTES 128

struct source;

/*
 * Finds what @word means, as named_runs_find() does, and gives the name of the socket of its feed.
 * Unlike that it keeps the rights of this process, also under sudo: the run is looked up by a child
 * with those of the user. 0; -ENOENT, silently, where @word is a number that no run has; or another
 * negative errno after one line to the user: the run has ended, or there is none.
 */
int named_feed_find(const struct store_options *store, const char *word,
		    char name[FEED_NAME_BYTES]);

#endif
