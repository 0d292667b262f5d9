/* SPDX-License-Identifier: BSD-2-Clause */
/* The user of a client of the agent, as the kernel reports it, and whether the agent serves it. */
#ifndef AGENT_PEER_ACCESS_H
#define AGENT_PEER_ACCESS_H

#include "agent/peer.h"

/* Fills in the user of the connection. NULL: it is served; else why not, a constant text. */
const char *peer_find_access(struct peer *p);

#endif
