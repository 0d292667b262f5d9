/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client asks for: checked against its rights and limits, then begun. */
#ifndef AGENT_PEER_REQUEST_H
#define AGENT_PEER_REQUEST_H

#include "agent/peer.h"

/*
 * Carries out the request in p->message, which is empty after it. 0: the client may go on; or a
 * negative errno, and @why is what to tell it, in a sentence without a full stop.
 */
int peer_take_request(struct peer *p, char *why, size_t size);

#endif
