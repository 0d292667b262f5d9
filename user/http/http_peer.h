/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which user is at the other end of a connection: of one from this machine the kernel says it, by
 * the socket there. Others are told apart by their address.
 */
#ifndef HTTP_HTTP_PEER_H
#define HTTP_HTTP_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum peer_kind {
	PEER_ADDRESS, /* of another machine; of this one, where the kernel has no sock_diag */
	PEER_USER,
	PEER_GONE, /* of this machine, and has closed its end */
};

struct peer {
	enum peer_kind kind;
	uint64_t id; /* those of one user, or of one network that a client has, have the same */
	uid_t uid;   /* of PEER_USER */
};

/* A socket for peer_find(); -1, which it takes, too: the kernel has none. */
int peer_open(void);
/* @peer: at the other end of the connection @fd, whose address is @from. */
void peer_find(int diagnosis, int fd, const struct sockaddr_storage *from, struct peer *peer);
/* Whether the two have the same user or address. */
bool peer_is_same(const struct peer *a, const struct peer *b);

#endif
