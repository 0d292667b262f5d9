/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Peers of sockets (--net-peers): bytes by remote address and port, for one run. */
#ifndef PEERS_BPF_H
#define PEERS_BPF_H

#include "books.bpf.h"
#include <bpf/bpf_endian.h>

const volatile bool want_peers;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct peer_key);
	__type(value, struct peer_count);
} peers SEC(".maps");

static const struct peer_count no_peer_count;

__u64 peers_lost; /* calls whose peer did not fit */

/* Sets the address of @key; IPv4 becomes ::ffff:a.b.c.d. */
static __always_inline void peer_put_address(struct peer_key *key, struct sock *sk)
{
	if (sk->__sk_common.skc_family == AF_INET) {
		key->address[2] = bpf_htonl(0xffff);
		key->address[3] = sk->__sk_common.skc_daddr;
		return;
	}
	key->address[0] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[0];
	key->address[1] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[1];
	key->address[2] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[2];
	key->address[3] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[3];
}

static __always_inline struct peer_count *peer_get(const struct peer_key *key)
{
	struct peer_count *c = bpf_map_lookup_elem(&peers, key);

	if (c)
		return c;
	bpf_map_update_elem(&peers, key, &no_peer_count, BPF_NOEXIST);
	return bpf_map_lookup_elem(&peers, key);
}

/*
 * Returns the counters of the peer of @sk, or NULL if there is no room (counted as lost). With
 * @came_in (the peer connected to a listening socket) its port is left out. A message that is sent
 * over a connected datagram socket may name another address, which is in @n. An unconnected one has
 * no known peer.
 */
static __always_inline struct peer_count *peer_of(struct sock *sk, bool is_tcp, bool came_in,
						  struct call_entry *n)
{
	struct peer_key key = { .protocol = is_tcp ? PEER_TCP : PEER_UDP };
	struct peer_count *c;

	if (!is_tcp && n->to.protocol) {
		key = n->to;
		n->to.protocol = 0;
	} else if (is_tcp || sk->__sk_common.skc_state == TCP_ESTABLISHED) {
		peer_put_address(&key, sk);
		key.port = came_in ? 0 : bpf_ntohs(sk->__sk_common.skc_dport);
	} else {
		key.protocol = PEER_UNCONNECTED;
	}
	c = peer_get(&key);
	if (!c)
		add(peers_lost, 1);
	return c;
}

#endif
