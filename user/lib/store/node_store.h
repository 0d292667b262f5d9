/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runs of the node, which its agent keeps: --node. Root reads the file; others ask the agent,
 * which gives them their own.
 */
#ifndef STORE_NODE_STORE_H
#define STORE_NODE_STORE_H

#include "config/config.h"
#include "store/query.h"
#include "store/source.h"

#define NODE_STORE "/var/lib/bpfmon/node.db"

/* Where the configuration of the agent has it, or NODE_STORE. */
void node_store_path(char path[CONFIG_TEXT_BYTES]);
/* Whether @path is that file: only the agent writes to it. */
bool node_store_is(const char *path);
/* The runs that the agent at @socket lets the caller see, and that pass @f, whatever its tags. A
 * negative errno after one line to the user. */
int node_store_query(const char *socket, const struct run_filter *f, struct stored_runs *all);
/* Opens the run @id of these; the same errors. */
int node_store_open(const char *socket, int64_t id, struct source *s);

/* Rows of a list of runs that another process has made: an object of JSON a line. */

/* Appends the run of a line as `bpfmon list --json` prints it. -EBADMSG, -ENOMEM. */
int listed_run_append(struct stored_runs *all, const char *text, size_t length);

#endif
