// SPDX-License-Identifier: BSD-2-Clause
#include "http/connections.h"

#include "base/clock.h"

#include <linux/bpf.h> /* states of sockets: netinet/tcp.h conflicts with linux/tcp.h */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h> /* struct tcp_info of glibc ends before the member */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/*
 * Ranges of subordinate uids, which users have for containers (subuid(5)), begin here and are
 * contiguous.
 */
#define FIRST_SUBORDINATE 100000
#define SUBORDINATES 65536

struct diagnosis_request {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

int peer_open(void)
{
	return socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

/* An end of a connection. An IPv4 client of an IPv6 socket has an IPv4 socket. */
struct end {
	uint8_t family;
	__be16 port;
	__be32 address[4];
};

static void end_read(const struct sockaddr_storage *a, struct end *e)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	memcpy(&in, a, sizeof(in));
	memcpy(&in6, a, sizeof(in6));
	*e = (struct end){ .family = (uint8_t)in.sin_family, .port = in.sin_port };
	if (e->family == AF_INET) {
		e->address[0] = in.sin_addr.s_addr;
	} else if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) {
		e->family = AF_INET;
		memcpy(e->address, in6.sin6_addr.s6_addr + 12, 4);
	} else {
		memcpy(e->address, &in6.sin6_addr, sizeof(e->address));
	}
}

/* Gets the socket at @there that is connected to @here. Returns false if this machine has none. */
static bool sock_diag_query(int fd, const struct end *there, const struct end *here,
			    struct inet_diag_msg *found)
{
	struct diagnosis_request ask = {
		{ sizeof(ask), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0 },
		{ .sdiag_family = there->family,
		  .sdiag_protocol = IPPROTO_TCP,
		  .idiag_states = UINT32_MAX,
		  .id = { .idiag_sport = there->port,
			  .idiag_dport = here->port,
			  .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } },
	};
	_Alignas(struct nlmsghdr) char answer[1024];
	const struct nlmsghdr *head = (const struct nlmsghdr *)answer;
	ssize_t n;

	memcpy(ask.body.id.idiag_src, there->address, sizeof(there->address));
	memcpy(ask.body.id.idiag_dst, here->address, sizeof(here->address));
	if (fd < 0 || send(fd, &ask, sizeof(ask), 0) < 0)
		return false;
	n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT); /* send() made the answer */
	if (n < 0 || !NLMSG_OK(head, (size_t)n) || head->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    head->nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
		return false;
	memcpy(found, NLMSG_DATA(head), sizeof(*found));
	return found->idiag_state != BPF_TCP_LISTEN; /* a listener on that port is not the peer */
}

static uint64_t address_id(const struct end *e)
{
	uint64_t id;

	if (e->family == AF_INET)
		return e->address[0];
	memcpy(&id, e->address, sizeof(id)); /* the network; a client chooses the rest */
	return id;
}

void peer_find(int diagnosis, int fd, const struct sockaddr_storage *from, struct peer *peer)
{
	struct sockaddr_storage local;
	socklen_t length = sizeof(local);
	struct inet_diag_msg found;
	struct end there, here;

	end_read(from, &there);
	*peer = (struct peer){ .kind = PEER_ADDRESS, .id = address_id(&there) };
	if (getsockname(fd, (struct sockaddr *)&local, &length))
		return;
	end_read(&local, &here);
	if (!sock_diag_query(diagnosis, &there, &here, &found))
		return;
	/* a socket without a process is reported as root's */
	if (!found.idiag_inode) {
		peer->kind = PEER_GONE;
		return;
	}
	*peer = (struct peer){ .kind = PEER_USER, .id = found.idiag_uid, .uid = found.idiag_uid };
	if (peer->id >= FIRST_SUBORDINATE)
		peer->id -= (peer->id - FIRST_SUBORDINATE) % SUBORDINATES;
}

static bool peer_is_same(const struct peer *a, const struct peer *b)
{
	return a->kind == b->kind && a->id == b->id;
}

#define SLOTS (CONNECTIONS + CONNECTIONS_ENDING)
#define ENDING_WAIT_NS (100 * NSEC_PER_MSEC)

void connections_init(struct connections *c, size_t most, uid_t owner)
{
	pthread_condattr_t monotonic;

	memset(c, 0, sizeof(*c));
	c->most = most;
	c->owner = owner;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&c->closed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void connections_done(struct connections *c)
{
	pthread_cond_destroy(&c->closed);
	pthread_mutex_destroy(&c->lock);
}

static struct connection *connections_find(struct connections *c, bool is_open, int fd)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (c->list[i].is_open == is_open && (!is_open || c->list[i].fd == fd))
			return &c->list[i];
	return NULL;
}

/*
 * Counts connections: all, or if @is_sent those with a large answer; of the user @of unless that is
 * NULL.
 */
static size_t connections_count(const struct connections *c, bool is_sent, const struct peer *of)
{
	size_t nr = 0;

	for (size_t i = 0; i < SLOTS; i++) {
		const struct connection *at = &c->list[i];

		nr += at->is_open && !at->is_ending && (!is_sent || at->sent_ns) &&
		      (!of || peer_is_same(&at->peer, of));
	}
	return nr;
}

static bool connection_is_owners(const struct connections *c, const struct peer *p)
{
	return c->owner != CONNECTION_NO_OWNER && p->kind == PEER_USER && p->uid == c->owner;
}

/*
 * Returns whether so many connections are being closed that a user may not replace its own ones: a
 * user that opens one after the other must not take time or slots from others.
 */
static bool connections_many_ending(const struct connections *c)
{
	size_t nr = 0;

	for (size_t i = 0; i < SLOTS; i++)
		nr += c->list[i].is_open && c->list[i].is_ending;
	return nr >= CONNECTIONS_ENDING / 2;
}

/* A connection that may be ended, and the number that its user has. */
struct candidate {
	struct connection *at;
	size_t nr;
	uint64_t since_ns;
};

/*
 * Order of ending: other users before the owner; then the user with the most connections; then
 * connections without an answer; then the oldest.
 */
static bool candidate_precedes(const struct connections *c, const struct candidate *a,
			       const struct candidate *b)
{
	bool is_own_a = connection_is_owners(c, &a->at->peer);
	bool is_own_b = b->at && connection_is_owners(c, &b->at->peer);

	if (!b->at || is_own_a != is_own_b)
		return !b->at || is_own_b;
	if (a->nr != b->nr)
		return a->nr > b->nr;
	if (a->at->is_known != b->at->is_known)
		return b->at->is_known;
	return a->since_ns < b->since_ns;
}

static bool connection_may_be_ended(const struct connection *at, bool is_sent)
{
	return at->is_open && !at->is_ending && !at->is_trusted && (!is_sent || at->sent_ns);
}

/* Returns the connection to end for one of @peer, or NULL. */
static struct connection *connections_choose(struct connections *c, bool is_sent,
					     const struct peer *peer, uint64_t now_ns)
{
	bool is_owner = connection_is_owners(c, peer);
	size_t nr_own = connections_count(c, is_sent, peer);
	bool is_changing = connections_many_ending(c);
	struct candidate chosen = { 0 };

	for (size_t i = 0; i < SLOTS; i++) {
		struct connection *at = &c->list[i];
		struct candidate one = { at, nr_own, is_sent ? at->sent_ns : at->opened_ns };

		if (!connection_may_be_ended(at, is_sent))
			continue;
		if (peer_is_same(&at->peer, peer)) {
			if (is_changing ||
			    now_ns - one.since_ns < CONNECTION_LEAST_SECONDS * NSEC_PER_SEC)
				continue;
		} else {
			one.nr = connections_count(c, is_sent, &at->peer);
			if (!is_owner && (one.nr <= nr_own || connection_is_owners(c, &at->peer)))
				continue;
		}
		if (candidate_precedes(c, &one, &chosen))
			chosen = one;
	}
	return chosen.at;
}

/* Descriptors are not closed while the lock is held, so @at->fd is not reused. */
static void connection_end(const struct connection *at)
{
	if (at->is_begun)
		shutdown(at->fd, SHUT_RDWR);
}

/* Ends a connection if there are @most. Returns false if none may be ended for @peer. */
static bool connections_make_room(struct connections *c, bool is_sent, size_t most,
				  const struct peer *peer, uint64_t now_ns)
{
	struct connection *at;

	if (connections_count(c, is_sent, NULL) < most)
		return true;
	at = connections_choose(c, is_sent, peer, now_ns);
	if (!at)
		return false;
	at->is_ending = true;
	connection_end(at);
	return true;
}

/* Returns an unused slot, waiting a short time for one being closed; NULL if there is none. */
static struct connection *connections_wait(struct connections *c)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + ENDING_WAIT_NS;
	struct timespec until = { .tv_sec = (time_t)(until_ns / NSEC_PER_SEC),
				  .tv_nsec = (long)(until_ns % NSEC_PER_SEC) };
	struct connection *at;

	while (!(at = connections_find(c, false, -1)))
		if (pthread_cond_timedwait(&c->closed, &c->lock, &until))
			return NULL;
	return at;
}

bool connections_admit(struct connections *c, int fd, const struct peer *peer, uint64_t now_ns)
{
	struct connection *at = NULL;

	pthread_mutex_lock(&c->lock);
	if (connections_make_room(c, false, c->most, peer, now_ns))
		at = connections_wait(c);
	if (at)
		*at = (struct connection){ .is_open = true,
					   .fd = fd,
					   .peer = *peer,
					   .opened_ns = now_ns,
					   .since_ns = now_ns };
	pthread_mutex_unlock(&c->lock);
	return at;
}

void connections_begin(struct connections *c, int fd)
{
	struct connection *at;

	pthread_mutex_lock(&c->lock);
	at = connections_find(c, true, fd);
	if (at) {
		at->is_begun = true;
		if (at->is_ending)
			connection_end(at);
	}
	pthread_mutex_unlock(&c->lock);
}

void connections_close(struct connections *c, int fd)
{
	struct connection *at;

	pthread_mutex_lock(&c->lock);
	at = connections_find(c, true, fd);
	if (at)
		at->is_open = false;
	pthread_cond_signal(&c->closed);
	pthread_mutex_unlock(&c->lock);
}

void connections_answer(struct connections *c, int fd, uint64_t now_ns)
{
	struct connection *at;

	pthread_mutex_lock(&c->lock);
	at = connections_find(c, true, fd);
	if (at) {
		at->is_known = true;
		at->sent_ns = 0;
		at->since_ns = now_ns;
	}
	pthread_mutex_unlock(&c->lock);
}

void connections_trust(struct connections *c, int fd)
{
	struct connection *at;

	pthread_mutex_lock(&c->lock);
	at = connections_find(c, true, fd);
	if (at)
		at->is_trusted = true;
	pthread_mutex_unlock(&c->lock);
}

bool connections_send(struct connections *c, int fd, size_t most, uint64_t now_ns)
{
	struct connection *at;
	bool may;

	pthread_mutex_lock(&c->lock);
	at = connections_find(c, true, fd);
	may = at && connections_make_room(c, true, most, &at->peer, now_ns);
	if (may)
		at->sent_ns = now_ns;
	pthread_mutex_unlock(&c->lock);
	return may;
}

/* A client that is trusted may wait for an answer that takes long to make. */
static uint64_t connection_limit_ns(const struct connection *at)
{
	return (at->is_known || at->is_trusted ? CONNECTION_NEXT_SECONDS
					       : CONNECTION_FIRST_SECONDS) *
	       NSEC_PER_SEC;
}

uint64_t tcp_acked_bytes(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t length = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) ? 0 : info.tcpi_bytes_acked;
}

/*
 * Returns whether the client has received a part of a long answer since the last call, or since it
 * connected. A client that still sends its request has received nothing.
 */
static bool connection_has_progressed(struct connection *at)
{
	uint64_t acked = at->is_begun && !at->is_ending ? tcp_acked_bytes(at->fd) : 0;

	if (acked < at->acked + CONNECTION_LEAST_BYTES)
		return false;
	at->acked = acked;
	return true;
}

size_t connections_end_slow(struct connections *c, uint64_t now_ns)
{
	size_t nr = 0;

	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < SLOTS; i++) {
		struct connection *at = &c->list[i];

		if (!at->is_open || now_ns - at->since_ns < connection_limit_ns(at))
			continue;
		at->since_ns = now_ns;
		if (connection_has_progressed(at))
			continue;
		connection_end(at);
		at->is_open = at->is_begun; /* else the library did not accept it */
		nr++;
	}
	pthread_mutex_unlock(&c->lock);
	return nr;
}
