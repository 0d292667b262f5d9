/* SPDX-License-Identifier: BSD-2-Clause */
/* The run that a user names. */
#ifndef CMD_NAMED_RUN_H
#define CMD_NAMED_RUN_H

#include "source/source.h"

/*
 * Opens the run @what: a number of `bpfmon list`, HOST:NUMBER, a name, the beginning of its UUID,
 * or a file of JSON Lines ("-": stdin). A path with a '/' is preferred to a run of that name;
 * without it only if the file holds a run, or if @is_known (may be NULL) accepts it. @store: the
 * file that --store names; NULL: the user's own stores. The process takes the rights of the user
 * who called sudo. A negative errno after one line to the user.
 */
int named_run_open(struct source *s, const char *store, const char *what,
		   bool (*is_known)(const char *path));

#endif
