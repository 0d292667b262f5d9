/* SPDX-License-Identifier: BSD-2-Clause */
/* The stores that a subcommand reads: the one of --store, or those of all hosts of the user. */
#ifndef STORE_STORES_H
#define STORE_STORES_H

#include "base/user.h"
#include "store/query.h"
#include "store/source.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the home directory with the user's stores, or root's with @as_root. */
const char *user_home(const struct user *caller, bool as_root);
/* Returns the path of the user's own store, or root's with @as_root, in static memory: one file for
 * each user and host, in the user's state directory (XDG). */
const char *user_store(const struct user *caller, const char *host, bool as_root);

/* Which stores a user asks for. */
struct store_options {
	const char *path;  /* as named; NULL: the user's own */
	bool is_off;       /* --no-store */
	bool of_node;      /* --node: the agent's; only root may read the file */
	const char *agent; /* its socket; NULL: the usual one */
};

struct stores {
	char **path;   /* owned; the first is that of this host, or of --store */
	char **prefix; /* owned; before the number of a run: "" or "HOST:" */
	size_t nr, room;
	bool is_named;
	const char *agent; /* socket of the agent to ask instead; NULL: they are files */
};

/*
 * Finds the stores, or the one of @o. Under sudo the process first becomes the user who called it:
 * root does not open a file that a user has made. Returns a negative errno after one line to the
 * user.
 */
int stores_find(struct stores *s, const struct store_options *o);
void stores_done(struct stores *s);
/*
 * Lists the runs of all stores that pass the filter, each once: see stored_runs_unique(). A store
 * that cannot be read is reported; it is an error only if it is the one of --store.
 */
int stores_query(const struct stores *s, const struct run_filter *f, struct stored_runs *all);

/* Opens a run of stores_query(). Returns a negative errno after one line to the user. */
int stores_open_run(const struct stores *s, const struct stored_run *r, struct source *source);
/* The same for one run after the other: @source, zeroed before the first, stays open while runs are
 * of the same store; close it after the last, also after an error. */
int stores_turn_run(const struct stores *s, const struct stored_run *r, struct source *source);

/*
 * Passes a line of each run of @all to @take: see query_lines(). Skips the runs of an agent.
 * Returns a negative errno after one line to the user.
 */
int stores_lines(const struct stores *s, const struct stored_runs *all, enum run_line which,
		 line_take take, void *context);

#endif
