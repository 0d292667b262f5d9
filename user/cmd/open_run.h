/* SPDX-License-Identifier: BSD-2-Clause */
/* The run that a user names. */
#ifndef CMD_OPEN_RUN_H
#define CMD_OPEN_RUN_H

#include "source/source.h"

/*
 * Opens the run @name: a file of JSON Lines, "-" for stdin. It is opened with the rights of the
 * user who called sudo, whom the process becomes. A negative errno after one line to the user.
 */
int open_run(struct source *s, const char *name);
/* The one line when reading it failed. */
void tell_unreadable(const char *name, int err);

#endif
