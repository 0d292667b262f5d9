/* SPDX-License-Identifier: BSD-2-Clause */
/* From a configuration to an agent that can begin its turns, and back. */
#ifndef AGENT_OPEN_H
#define AGENT_OPEN_H

#include "agent/agent.h"

/*
 * Reads the configuration, loads the programs, finds all tasks of the node, drops what rights are
 * not needed from then on. @a: zero but for its descriptors, which are -1. A negative errno; @why
 * is a sentence without a full stop, or empty where the number says it all.
 */
int agent_open(struct agent *a, const struct agent_options *o, char *why, size_t size);
/* After an error of agent_open(), too. */
void agent_close(struct agent *a);

#endif
