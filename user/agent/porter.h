/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The porter: a process that receives descriptors from clients for the agent and closes sockets
 * that still hold some. Either can block for as long as the sender likes: closing a descriptor
 * waits for the server of a FUSE file, or for the other side of a TCP socket. So each order is
 * executed by a child that exits afterwards and is never waited for. The porter has no rights.
 */
#ifndef AGENT_PORTER_H
#define AGENT_PORTER_H

#include "base/message.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum porter_task {
	/* Receive a packet from the client whose connection is attached to the order. */
	PORTER_RECEIVE,
	/* Close the attached socket, once the agent has closed it: see closed_id. */
	PORTER_CLOSE,
};

struct porter_order {
	uint32_t task;
	uid_t uid;   /* of the client */
	uint64_t id; /* of the answer; increases for orders to close */
};

/*
 * Answer to PORTER_RECEIVE, with the descriptors of the packet attached: sockets of types that
 * never block, and pidfds. Any other descriptor is replaced by a placeholder.
 */
struct porter_answer {
	uint64_t id;
	int32_t err; /* 0, or a negative errno: no packet came, or it was rejected */
	struct control packet;
};

struct porter_link {
	int fd; /* owned; carries orders and answers; the porter ends when it is closed */
	/* Shared memory, owned: the agent has closed its copies of all sockets up to this order. */
	_Atomic uint64_t *closed_id;
};

/* Starts the porter. Returns 0 or a negative errno. */
int porter_start(struct porter_link *link);

struct agent;
struct peer;

/* Makes the agent use the porter. Returns 0 or a negative errno. */
int door_open(struct agent *a);
void door_close(struct agent *a);
/*
 * Orders the next packet of @p, with its descriptors; p->answered() gets it. Until then the
 * connection is not polled.
 */
void door_order_packet(struct peer *p);
/* Called after the loop has waited: sends the orders for which the porter's socket had no room. */
void door_attend(struct agent *a);

#endif
