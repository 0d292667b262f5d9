// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_peer.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

/* Users may have 65536 IDs more, to run containers as (subuid(5)), from here on and in a row. */
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

/* An end of a connection; an IPv4 client of a socket for IPv6 has a socket for IPv4. */
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

/* Of the socket at @there that is connected with @here. False: this machine has none. */
static bool diagnosis_ask(int fd, const struct end *there, const struct end *here,
			  struct inet_diag_msg *said)
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
	n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT); /* it was answered within send() */
	if (n < 0 || !NLMSG_OK(head, (size_t)n) || head->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    head->nlmsg_len < NLMSG_LENGTH(sizeof(*said)))
		return false;
	memcpy(said, NLMSG_DATA(head), sizeof(*said));
	return said->idiag_state != TCP_LISTEN; /* which waits at that port, and is not connected */
}

static uint64_t address_id(const struct end *e)
{
	uint64_t id;

	if (e->family == AF_INET)
		return e->address[0];
	memcpy(&id, e->address, sizeof(id)); /* the network; the rest a client chooses itself */
	return id;
}

void peer_find(int diagnosis, int fd, const struct sockaddr_storage *from, struct peer *peer)
{
	struct sockaddr_storage local;
	socklen_t length = sizeof(local);
	struct inet_diag_msg said;
	struct end there, here;

	end_read(from, &there);
	*peer = (struct peer){ .kind = PEER_ADDRESS, .id = address_id(&there) };
	if (getsockname(fd, (struct sockaddr *)&local, &length))
		return;
	end_read(&local, &here);
	if (!diagnosis_ask(diagnosis, &there, &here, &said))
		return;
	/* a socket that no process has any more is said to be root's */
	if (!said.idiag_inode) {
		peer->kind = PEER_GONE;
		return;
	}
	*peer = (struct peer){ .kind = PEER_USER, .id = said.idiag_uid, .uid = said.idiag_uid };
	if (peer->id >= FIRST_SUBORDINATE)
		peer->id -= (peer->id - FIRST_SUBORDINATE) % SUBORDINATES;
}

bool peer_is_same(const struct peer *a, const struct peer *b)
{
	return a->kind == b->kind && a->id == b->id;
}
