/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runs of the node, which its agent records: --node. Root reads the file; other users get their
 * own runs from the agent.
 */
#ifndef STORE_NODE_STORE_H
#define STORE_NODE_STORE_H

#include "config/config.h"
#include "store/query.h"
#include "store/source.h"

#define NODE_STORE "/var/lib/bpfmon/node.db"

/* Writes the path from the configuration of the agent, or NODE_STORE. */
void node_store_path(char path[CONFIG_TEXT_BYTES]);
/* Returns whether @path is that file: only the agent writes to it. */
bool node_store_is(const char *path);
/* Asks the agent at @socket for the runs that the caller may see and that pass @f, except for its
 * tags. Returns a negative errno after one line to the user. */
int node_store_query(const char *socket, const struct run_filter *f, struct stored_runs *all);
/* Opens one of these runs. The same errors. */
int node_store_open(const char *socket, int64_t id, struct source *s);

/* Appends the run of a line of `bpfmon list --json`. -EBADMSG, -ENOMEM. */
int listed_run_append(struct stored_runs *all, const char *text, size_t length);

#endif
