/* SPDX-License-Identifier: BSD-2-Clause */
/* The stores that a subcommand reads: the one that is named, or all of the user's hosts. */
#ifndef STORE_STORES_H
#define STORE_STORES_H

#include "base/user.h"
#include "store/query.h"
#include "store/source.h"

#include <stdbool.h>
#include <stddef.h>

/* Where stores are: one file a user and host, in the user's state directory (XDG). */

/* The home directory that the user's stores are in, or root's where @as_root. */
const char *user_home(const struct user *caller, bool as_root);
/* The file of the user's own store, or root's where @as_root, in memory that stays. */
const char *user_store(const struct user *caller, const char *host, bool as_root);

/* Which stores a user asks for. */
struct store_options {
	const char *path;  /* as named; NULL: the user's own */
	bool is_off;       /* --no-store */
	bool of_node;      /* --node: that of the agent, which it may have to be asked for */
	const char *agent; /* its socket; NULL: the usual one */
};

struct stores {
	char **path;   /* owned; the first: that of this host, or the one named */
	char **prefix; /* owned; before the number of a run: "", or "HOST:" */
	size_t nr, room;
	bool is_named;
	const char *agent; /* the socket to ask instead; NULL: they are files */
};

/*
 * Finds them, or the one that @o names; for root that of the node is a file as others. Under sudo
 * the process first becomes the user who called it: root does not open a file that a user has made.
 * A negative errno after one line to the user.
 */
int stores_find(struct stores *s, const struct store_options *o);
void stores_done(struct stores *s);
/*
 * The runs of all stores that pass the filter, each once: see stored_runs_unique(). A store that
 * cannot be read is reported; a negative errno if it was the one named, or without memory.
 */
int stores_query(const struct stores *s, const struct run_filter *f, struct stored_runs *all);

/* Opens a run of stores_query(). A negative errno after one line to the user. */
int stores_open_run(const struct stores *s, const struct stored_run *r, struct source *source);
/* The same for one run after the other: @source, all zero before the first, stays open as long as
 * they are of one store; to be closed in the end, also after an error. */
int stores_turn_run(const struct stores *s, const struct stored_run *r, struct source *source);

/*
 * Hands that line of each run of @all to @take: see query_lines(). Nothing of what an agent has
 * answered. A negative errno after one line to the user.
 */
int stores_lines(const struct stores *s, const struct stored_runs *all, enum run_line which,
		 line_take take, void *context);

#endif
