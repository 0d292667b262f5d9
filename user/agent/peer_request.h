/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of clients: checked against the client's rights and limits, then begun. */
#ifndef AGENT_PEER_REQUEST_H
#define AGENT_PEER_REQUEST_H

#include "agent/peer.h"

/*
 * Executes the request in p->message and empties it. Returns 0 if the client may go on, or a
 * negative errno with a sentence without a full stop for the client in @why.
 */
int peer_execute_request(struct peer *p, char *why, size_t size);

#endif
