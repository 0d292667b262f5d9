/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes or removes runs of a store. */
#ifndef BPFMON_CMD_EDIT_H
#define BPFMON_CMD_EDIT_H

#include "store/named_run.h"

#include <limits.h>
#include <stddef.h>

struct changed_runs {
	size_t nr;
	char path[PATH_MAX]; /* store of this user and host; runs may be in those of other hosts */
};

/*
 * Calls @act for each run that @words name, with its store open for writing. Refuses, before the
 * first call, files, runs that are being recorded and the store of the node's agent. Stores the
 * number of changed runs in @done. Returns 0, or a negative errno after a message to the user with
 * @verb ("change" or "remove").
 */
int runs_change_each(const struct store_options *store, char *const *words, const char *verb,
		     int (*act)(struct database *d, int64_t id, const void *context),
		     const void *context, struct changed_runs *done);

#endif
