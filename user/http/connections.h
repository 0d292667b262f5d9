/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The open connections, each with the user at its other end and the time since its last finished
 * request or progress. The limits of libmicrohttpd do not suffice: one user could take all
 * connections, and a client that sends a byte now and then would never time out.
 */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/*
 * Identifies the user at the other end of a connection: for a local one, the kernel knows the owner
 * of the other socket. Remote ones are identified by their address.
 */

enum peer_kind {
	PEER_ADDRESS, /* of another machine, or of this one if the kernel has no sock_diag */
	PEER_USER,
	PEER_GONE, /* local, and its end is closed already */
};

struct peer {
	enum peer_kind kind;
	uint64_t id; /* equal for all connections of one user, or of one network */
	uid_t uid;   /* if PEER_USER */
};

/*
 * Returns a socket for peer_find(), or -1 if the kernel has no sock_diag; peer_find() accepts that
 * too.
 */
int peer_open(void);
/* Sets @peer to the other end of the connection @fd, whose address is @from. */
void peer_find(int diagnosis, int fd, const struct sockaddr_storage *from, struct peer *peer);

#define CONNECTIONS 128       /* capacity; a server may allow fewer */
#define CONNECTIONS_ENDING 64 /* shut down, but not closed yet */
/* Limit given to the library; never reached, although it still counts some closed connections. */
#define CONNECTIONS_OF_LIBRARY (2 * (CONNECTIONS + CONNECTIONS_ENDING))
/*
 * Limits of a request, including the time before it: of the first, and of each later one or of a
 * trusted client. They begin again while the client receives at least so many bytes in that time.
 */
#define CONNECTION_FIRST_SECONDS 20
#define CONNECTION_NEXT_SECONDS 120
#define CONNECTION_LEAST_BYTES (16 << 10)
#define CONNECTION_LEAST_SECONDS 1 /* before it may be ended for another of its user */
#define CONNECTION_NO_OWNER ((uid_t)-1)

struct connections {
	pthread_mutex_t lock;
	pthread_cond_t closed;
	size_t most;
	uid_t owner;
	struct connection {
		bool is_open;
		/* by the library, which before that may close it without a callback */
		bool is_begun;
		bool is_ending;  /* shut down by us */
		bool is_known;   /* one request was answered */
		bool is_trusted; /* presented the token or a password */
		int fd;          /* of the library */
		struct peer peer;
		uint64_t opened_ns, since_ns;
		uint64_t acked;   /* bytes received by the client at its last progress */
		uint64_t sent_ns; /* when a large answer began; 0: none in progress */
	} list[CONNECTIONS + CONNECTIONS_ENDING];
};

/*
 * Allows @most connections at once. A connection of @owner may replace one of any other user;
 * CONNECTION_NO_OWNER for no owner.
 */
void connections_init(struct connections *c, size_t most, uid_t owner);
void connections_done(struct connections *c);
/*
 * Returns whether a new connection is accepted. At the limit, the oldest connection of the user
 * with the most is ended for it, unless that user has no more than the new client. Trusted
 * connections are never ended for others.
 */
bool connections_admit(struct connections *c, int fd, const struct peer *peer, uint64_t now_ns);
/*
 * Note events of a connection: accepted by the library; about to be closed, while the descriptor is
 * still valid; answered a request; authenticated.
 */
void connections_begin(struct connections *c, int fd);
void connections_close(struct connections *c, int fd);
void connections_answer(struct connections *c, int fd, uint64_t now_ns);
void connections_trust(struct connections *c, int fd);
/*
 * Returns whether a large answer may be sent, of which @most are allowed at once; makes room as
 * connections_admit().
 */
bool connections_send(struct connections *c, int fd, size_t most, uint64_t now_ns);
/* Ends connections that have taken too long without progress. Returns their number. */
size_t connections_end_slow(struct connections *c, uint64_t now_ns);

/* Returns the bytes that the peer of @fd has acknowledged; 0 if @fd is no TCP socket. */
uint64_t tcp_acked_bytes(int fd);

#endif
