/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a list of runs that another process has made: an object of JSON a line. */
#ifndef STORE_LISTED_RUNS_H
#define STORE_LISTED_RUNS_H

#include "store/query.h"

/* Appends the run of a line as `bpfmon list --json` prints it. -EBADMSG, -ENOMEM. */
int listed_run_append(struct stored_runs *all, const char *text, size_t length);

#endif
