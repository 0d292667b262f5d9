/* SPDX-License-Identifier: BSD-2-Clause */
/* One job of the node: how it begins and ends. */
#ifndef AGENT_NODE_JOB_H
#define AGENT_NODE_JOB_H

#include "agent/node.h"

/* A job that no rule of the table makes: its id, kind and name. */
struct rules_job node_job_name(const char *id, const char *name);
/*
 * It begins now in @above (NULL: it is the node): its meta line is written. @path: of its cgroup,
 * or of one in that; NULL: it has none.
 */
void node_job_begin(struct node *n, struct node_job *j, struct rules_job rule, const char *path,
		    struct node_job *above);
/* The cgroup @path, of @depth components or more, belongs to it, too: the memory of a job that is
 * in several is in none of them. */
void node_job_extend(struct node_job *j, const char *path, unsigned depth);
/* It is over: its summary is written, and all that it has is released but @j itself. */
void node_job_end(struct node_job *j);

#endif
