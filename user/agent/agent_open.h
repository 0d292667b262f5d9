/* SPDX-License-Identifier: BSD-2-Clause */
/* From a configuration to an agent that can begin its turns, and back. */
#ifndef AGENT_AGENT_OPEN_H
#define AGENT_AGENT_OPEN_H

#include "agent/agent.h"

/*
 * Reads the configuration, loads the programs, finds all tasks of the node, drops what rights are
 * not needed from then on. @a: zero but for its descriptors, which are -1. Returns a negative errno
 * on failure; @why is a sentence without a full stop, or empty where the number says it all.
 */
int agent_open(struct agent *a, const struct agent_options *o, char *why, size_t size);
/* Also after a failure of agent_open(). */
void agent_close(struct agent *a);
/*
 * Reads the configuration of @a again: what it has for clients, limits and rules holds from now on;
 * socket, hierarchy and max_tasks need a restart. Returns 0; or a negative errno, and nothing has
 * changed.
 */
int agent_configure_again(struct agent *a, char *why, size_t size);

#endif
