/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the live feed of a run that the user names. */
#ifndef BPFMON_NAMED_FEED_H
#define BPFMON_NAMED_FEED_H

#include "options/common_options.h"

#define FEED_NAME_BYTES 128

struct source;

/*
 * Resolves @word as named_runs_find() does and stores the name of the feed's socket in @name.
 * Unlike named_runs_find(), it keeps the privileges of this process under sudo: a child with the
 * caller's rights looks up the run. Returns 0; -ENOENT without a message if @word is a number that
 * no run has; or another negative errno after a message to the user (the run has ended or does not
 * exist).
 */
int named_feed_find(const struct store_options *store, const char *word,
		    char name[FEED_NAME_BYTES]);

#endif
