/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The open connections: the user at the other end of each, and the time since its last finished
 * request. The limits of the library are a number of connections, all of which one user could take,
 * and a time of silence: a client that sends a byte now and then would stay connected for ever.
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
 * Which user is at the other end of a connection: of one from this machine the kernel says it, by
 * the socket there. Others are distinguished by their address.
 */

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

#define CONNECTIONS 128       /* there is room for; a server may allow fewer */
#define CONNECTIONS_ENDING 64 /* that were ended, and are not closed yet */
/* The library's own limit, which is not met: it still counts some that it has closed. */
#define CONNECTIONS_OF_LIBRARY (2 * (CONNECTIONS + CONNECTIONS_ENDING))
#define CONNECTION_FIRST_SECONDS 20 /* until the first request is answered */
#define CONNECTION_NEXT_SECONDS 120 /* for each later one, with the time before it */
#define CONNECTION_LEAST_SECONDS 1  /* before it gives way to another of its user */
#define CONNECTION_NOBODY ((uid_t)-1)

struct connections {
	pthread_mutex_t lock;
	pthread_cond_t closed;
	size_t most;
	uid_t owner;
	struct connection {
		bool is_open;
		bool is_begun;   /* by the library; until then it may close it without a word */
		bool is_ending;  /* was ended by us */
		bool is_known;   /* one request was answered */
		bool is_trusted; /* showed the token, or a password */
		int fd;          /* of the library */
		struct peer peer;
		uint64_t opened_ns, since_ns;
		uint64_t sent_ns; /* since when it takes a large answer; 0: it does not */
	} list[CONNECTIONS + CONNECTIONS_ENDING];
};

/* For up to @most at once; @owner may take the place of any other user's; or CONNECTION_NOBODY. */
void connections_init(struct connections *c, size_t most, uid_t owner);
void connections_done(struct connections *c);
/*
 * Whether a new one is taken: if there are @most already, the oldest of the user that has most of
 * them is ended for it, unless that has no more than its own user. No connection with a token is.
 */
bool connections_admit(struct connections *c, int fd, const struct peer *peer, uint64_t now_ns);
/* It was taken by the library; is about to be closed, while its descriptor is still its own; has
 * answered a request; has shown that it may ask. */
void connections_begin(struct connections *c, int fd);
void connections_close(struct connections *c, int fd);
void connections_answer(struct connections *c, int fd, uint64_t now_ns);
void connections_trust(struct connections *c, int fd);
/* Whether a large answer may be sent, of which there are @most at once; as connections_admit(). */
bool connections_send(struct connections *c, int fd, size_t most, uint64_t now_ns);
/* Ends those that have taken too long. Returns their number. */
size_t connections_end_slow(struct connections *c, uint64_t now_ns);

#endif
