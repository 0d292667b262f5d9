/* SPDX-License-Identifier: BSD-2-Clause */
/* The run of a client begins: its job, its line in the stream of the node, its spans. */
#ifndef AGENT_PEER_START_H
#define AGENT_PEER_START_H

#include "agent/peer.h"

/* @when_ns: CLOCK_MONOTONIC, as the client says; another one is taken if that cannot be. */
void peer_start(struct peer *p, uint64_t when_ns);

#endif
