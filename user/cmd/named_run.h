/* SPDX-License-Identifier: BSD-2-Clause */
/* The run that a user names. */
#ifndef CMD_NAMED_RUN_H
#define CMD_NAMED_RUN_H

#include "source/source.h"

/*
 * Opens the run @what: a number of `bpfmon list`, HOST:NUMBER, a name, the beginning of its UUID,
 * or a file of JSON Lines ("-": stdin). A file that is named with a '/' goes before a run of that
 * name, one without it only if it is a run, or if @is_known, which may be NULL, says that the
 * caller can read it. @store: the file that --store names; NULL: the user's own stores. The
 * process becomes the user who called sudo. An error was told to the user.
 */
int named_run_open(struct source *s, const char *store, const char *what,
		   bool (*is_known)(const char *path));

#endif
