/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the stores that a subcommand reads: that of --store, or those of all hosts of the user. */
#ifndef STORE_STORES_H
#define STORE_STORES_H

#include "base/user.h"
#include "store/query.h"
#include "store/source.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the home directory with the user's stores; root's if @as_root. */
const char *user_home(const struct user *caller, bool as_root);
/*
 * Returns the path of the user's own store, or root's if @as_root, in static memory. Each user and
 * host has a file in the user's state directory (XDG).
 */
const char *user_store(const struct user *caller, const char *host, bool as_root);

/* Options that select stores. */
struct store_options {
	const char *path;  /* path of --store; NULL: the user's own */
	bool is_off;       /* --no-store */
	bool of_node;      /* --node: the agent's store, whose file only root may read */
	const char *agent; /* its socket; NULL: AGENT_SOCKET */
};

struct stores {
	char **path;   /* owned; first that of this host, or of --store */
	char **prefix; /* owned; before the number of a run: "" or "HOST:" */
	size_t nr, room;
	bool is_named;
	bool of_node;      /* with the jobs of the node instead of the user's runs */
	const char *agent; /* socket of the agent to query instead; NULL: use the files */
	bool as_root;      /* the agent is queried as root, for the user who called sudo */
};

/* Returns the command that lists the jobs of the node, or the user's runs, for messages. */
const char *stores_list_command(bool of_node);
/*
 * Finds all stores, or the one that @o selects. Under sudo the process drops to the user who called
 * it: root must not open a user's file. Only its queries to an agent are then still root's. Returns
 * a negative errno after an error message.
 */
int stores_find(struct stores *s, const struct store_options *o);
void stores_done(struct stores *s);
/*
 * Lists the runs of all stores that match the filter, without duplicates: see stored_runs_unique().
 * Reports stores that cannot be read; that is an error only for the store of --store.
 */
int stores_query(const struct stores *s, const struct run_filter *f, struct stored_runs *all);

/* Opens a run of stores_query(). Returns a negative errno after an error message. */
int stores_open_run(const struct stores *s, const struct stored_run *r, struct source *source);
/*
 * Opens the next of several runs. @source, zeroed before the first, stays open while runs are in
 * the same store. Close it after the last, also after an error.
 */
int stores_switch_run(const struct stores *s, const struct stored_run *r, struct source *source);

/*
 * Passes a line of each run in @all to @take: see query_lines(). Skips runs of an agent. Returns a
 * negative errno after an error message.
 */
int stores_lines(const struct stores *s, const struct stored_runs *all, enum run_line which,
		 run_line_fn take, void *context);

#endif
