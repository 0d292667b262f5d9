/* SPDX-License-Identifier: BSD-2-Clause */
/* The stores that a subcommand reads: the one that is named, or all of the user's hosts. */
#ifndef CMD_STORES_H
#define CMD_STORES_H

#include "store/path.h"
#include "store/query.h"

#include <stdbool.h>
#include <stddef.h>

struct stores {
	char **path;   /* owned; the first: that of this host, or the one named */
	char **prefix; /* owned; before the number of a run: "", or "HOST:" */
	size_t nr, room;
	bool is_named;
};

/*
 * Finds them, or the one that @store names, as the user who called sudo, whom the process becomes:
 * root does not open what a user has made. A negative errno after one line to the user.
 */
int stores_find(struct stores *s, const char *store);
void stores_done(struct stores *s);
/*
 * Asks each for the runs that pass; one that cannot be read is told, and an error if it was named.
 * A run that several of them have is there once: see stored_runs_unique().
 */
int stores_query(const struct stores *s, const struct run_filter *f, struct stored_runs *all);

#endif
