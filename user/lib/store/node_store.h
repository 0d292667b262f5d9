/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runs of the node (--node), which its agent records. Root reads the file; other users get
 * their own runs from the agent.
 */
#ifndef STORE_NODE_STORE_H
#define STORE_NODE_STORE_H

#include "config/config.h"
#include "store/query.h"
#include "store/source.h"

#define NODE_STORE "/var/lib/bpfmon/node.db"

/* Writes the path from the agent's configuration, or NODE_STORE. */
void node_store_path(char path[CONFIG_TEXT_BYTES]);
/* Returns whether @path is the node's store, which only the agent may write. */
bool node_store_is(const char *path);
/*
 * Requests from the agent at @socket the runs that the caller may see and that match @f, without
 * regard to its words. Returns a negative errno after an error message.
 */
int node_store_query(const char *socket, const struct run_filter *f, struct stored_runs *all);
/* Opens one of these runs. Returns a negative errno after an error message. */
int node_store_open(const char *socket, int64_t id, struct source *s);

/* Appends the run in a line of `bpfmon list --json`. Returns 0, -EBADMSG or -ENOMEM. */
int listed_run_append(struct stored_runs *all, const char *text, size_t length);

/*
 * Keeps of the jobs "node" and "other", which begin anew with each agent, the first, which is the
 * newest in the order of a query. Returns how many were left out.
 */
size_t node_runs_fold(struct stored_runs *all);

#endif
