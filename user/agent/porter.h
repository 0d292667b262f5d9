/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that receives descriptors from clients in place of the agent, and closes sockets in
 * which some are left. Whoever does so may have to wait as long as the sender wants: for the server
 * of a file in FUSE when a descriptor of it is closed, for the other side of a TCP socket. So each
 * order is carried out by a child that then ends, and that nothing waits for. It has no rights.
 */
#ifndef AGENT_PORTER_H
#define AGENT_PORTER_H

#include "base/message.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum porter_task {
	/* Receive a packet from the client whose connection comes with the order. */
	PORTER_RECEIVE,
	/* Close the socket that comes with it, once the agent has: see closed_id. */
	PORTER_CLOSE,
};

struct porter_order {
	uint32_t task;
	uid_t uid;   /* of the client */
	uint64_t id; /* of the answer; of those to close it grows */
};

/*
 * To PORTER_RECEIVE. With it come the descriptors that came with the packet: sockets of kinds that
 * never wait, and processes; another one is replaced by what is neither.
 */
struct porter_answer {
	uint64_t id;
	int32_t err; /* 0, or a negative errno: there is no packet, or it was not taken */
	struct control packet;
};

struct porter_link {
	int fd; /* owned; a socket for orders and answers, which ends it when it is closed */
	/* Shared memory, owned: the agent has closed what it ordered to close up to this one. */
	_Atomic uint64_t *closed_id;
};

/* Starts it. 0 or a negative errno. */
int porter_start(struct porter_link *link);

/* How descriptors of clients come to the agent, and how sockets that may have some are closed: both
 * by the porter. */

struct agent;
struct peer;

/* From now on the porter does so. 0 or a negative errno. */
int door_open(struct agent *a);
void door_close(struct agent *a);
/* Has the next packet of @p received, which brings descriptors; @p->answered() gets it. Until
 * then the connection is not looked at. */
void door_ask(struct peer *p);
/* After the loop has waited: asks for those that the porter had no room for. */
void door_attend(struct agent *a);

#endif
