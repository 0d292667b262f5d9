/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes or removes runs of a store. */
#ifndef BPFMON_CMD_EDIT_H
#define BPFMON_CMD_EDIT_H

#include "store/named_run.h"

/*
 * Does @act to each run that the @words name, with its store open to be written to. Refused, before
 * the first one: a file, a run that is being recorded, and the store of the node's agent. *@nr: how
 * many it was done to. A negative errno after one line to the user, in which @verb is "change" or
 * "remove".
 */
int changed_runs_each(const struct store_options *store, char *const *words, const char *verb,
		      int (*act)(struct database *d, int64_t id, const void *context),
		      const void *context, size_t *nr);

#endif
