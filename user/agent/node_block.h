/* SPDX-License-Identifier: BSD-2-Clause */
/* Shares the block I/O of the node's cgroups out among its jobs. */
#ifndef AGENT_NODE_BLOCK_H
#define AGENT_NODE_BLOCK_H

#include "agent/node.h"

/* Reads what there is for all jobs, which their samples then have. */
void node_block_read(struct node *n);
/* The same, and keeps for good what cgroups have that are over. */
void node_block_settle(struct node *n);

#endif
