/* SPDX-License-Identifier: BSD-2-Clause */
/* Who a client of the agent is, as the kernel says, and whether the agent serves it. */
#ifndef AGENT_PEER_ACCESS_H
#define AGENT_PEER_ACCESS_H

#include "agent/peer.h"

/* Fills in the user of the connection. NULL: it is served; else why not, a constant text. */
const char *peer_find_access(struct peer *p);

#endif
