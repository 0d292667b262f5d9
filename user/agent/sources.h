/* SPDX-License-Identifier: BSD-2-Clause */
/* What wakes the agent: clients that come, records of the kernel, its timer, signals. */
#ifndef AGENT_SOURCES_H
#define AGENT_SOURCES_H

#include "agent/agent.h"

/*
 * Adds them to the loop of the agent, whose books are open. A negative errno; @why is a sentence
 * without a full stop, or empty where the number says it all.
 */
int agent_sources_open(struct agent *a, const struct agent_options *o, char *why, size_t size);
/* After an error, too; those that are not open have -1. */
void agent_sources_close(struct agent *a);

#endif
