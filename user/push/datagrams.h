/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines over UDP, as many as fit into a datagram; nothing says whether one has arrived. */
#ifndef PUSH_DATAGRAMS_H
#define PUSH_DATAGRAMS_H

#include "base/buffer.h"
#include "push/push_target.h"

#include <stdbool.h>
#include <stdint.h>

struct datagrams {
	const struct target *target; /* not owned */
	int fd;                      /* owned; -1 until the host was found */
	uint64_t next_ns;            /* next attempt to find it */
	bool said_why;
};

void datagrams_init(struct datagrams *d, const struct target *t);
void datagrams_done(struct datagrams *d);
/* Sends the lines of @t. Adds to @sent and @dropped; the latter are those the kernel refused. */
void datagrams_send(struct datagrams *d, const struct buffer *t, uint64_t *sent, uint64_t *dropped);

#endif
