// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Where sockets move bytes: in the task that moves them, with what was moved. And what happens to
 * TCP connections, often in an interrupt during which any task is current: it is counted for the
 * process that opened the connection, or listens.
 */
#include "bpfmon.bpf.h"

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define IPPROTO_UDPLITE 136
#define IPPROTO_MPTCP 262
#define MSG_PEEK 2
#define IFF_LOOPBACK 8
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3
#define TCP_CLOSE 7
#define TCP_LISTEN 10

#include "calls.bpf.h"
#include "peers.bpf.h"

enum protocol { OVER_TCP, OVER_UDP, OVER_UNIX, OVER_OTHER };

/*
 * Loads directly through @sk, other than all other programs: a call of a helper takes as long as
 * the rest of this, and a run with --net can wait until the verifier has checked it.
 */
static __always_inline enum protocol protocol_of(struct sock *sk)
{
	u32 family = sk->__sk_common.skc_family, protocol = sk->sk_protocol;

	if (family == AF_UNIX)
		return OVER_UNIX;
	if (family != AF_INET && family != AF_INET6)
		return OVER_OTHER;
	if (protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP)
		return OVER_TCP;
	return protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE ? OVER_UDP : OVER_OTHER;
}

/* A connected socket has its route, and so the device by which it sends. */
static __always_inline bool is_loopback(struct sock *sk)
{
	u32 family = sk->__sk_common.skc_family;
	struct dst_entry *route;

	if (family != AF_INET && family != AF_INET6)
		return false;
	route = sk->sk_dst_cache;
	return route && route->dev->flags & IFF_LOOPBACK;
}

/* The process that opened a connection, or listens for it; freed with the socket. */
struct owner {
	u64 signal, serial;
	struct account_key account; /* if there is no such process any more */
	u64 listens;                /* or comes from one that does */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct owner);
} owners SEC(".maps");

static __always_inline bool has_come_in(struct sock *sk)
{
	struct owner *o = bpf_sk_storage_get(&owners, sk, NULL, 0);

	return o && o->listens;
}

#define COUNT_PEER(way, sk, over, bytes)                                                           \
	({                                                                                         \
		const bool is_tcp = (over) == OVER_TCP;                                            \
		struct peer_count *c = peer_of(sk, is_tcp, is_tcp && has_come_in(sk));             \
                                                                                                   \
		if (c) {                                                                           \
			add(c->way, bytes);                                                        \
			add(c->way##_messages, 1);                                                 \
		}                                                                                  \
	})

/* Only the task itself adds to its entry: atomic additions are not needed. */
#define COUNT(n, way, over, bytes)                                                                 \
	({                                                                                         \
		(n)->now.net_##way##_##over += (bytes);                                            \
		(n)->now.net_##way##_##over##_messages++;                                          \
	})

#define COUNT_ALL(n, way, sk, over, bytes)                                                         \
	({                                                                                         \
		if ((over) == OVER_TCP)                                                            \
			COUNT(n, way, tcp, bytes);                                                 \
		else if ((over) == OVER_UDP)                                                       \
			COUNT(n, way, udp, bytes);                                                 \
		else if ((over) == OVER_UNIX)                                                      \
			COUNT(n, way, unix, bytes);                                                \
		else                                                                               \
			COUNT(n, way, other, bytes);                                               \
		if (is_loopback(sk))                                                               \
			(n)->now.net_##way##_loopback += (bytes);                                  \
		if (want_peers && ((over) == OVER_TCP || (over) == OVER_UDP))                      \
			COUNT_PEER(way, sk, over, bytes);                                          \
	})

/* An empty datagram is a message, the end of a stream is none. */
static __always_inline bool is_message(struct sock *sk, int bytes)
{
	return bytes > 0 || (!bytes && sk->sk_type != SOCK_STREAM);
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(sockets__send, struct sock *sk, int bytes)
{
	struct call_entry *n =
		is_message(sk, bytes) ? calls_of_current(bpf_get_current_task()) : NULL;
	enum protocol over;

	if (!n)
		return 0;
	over = protocol_of(sk);
	COUNT_ALL(n, tx, sk, over, bytes);
	return 0;
}

/* What is peeked at is received later. */
SEC("?tp_btf/sock_recv_length")
int BPF_PROG(sockets__receive, struct sock *sk, int bytes, int flags)
{
	struct call_entry *n = NULL;
	enum protocol over;

	if (!(flags & MSG_PEEK) && is_message(sk, bytes))
		n = calls_of_current(bpf_get_current_task());
	if (!n)
		return 0;
	over = protocol_of(sk);
	COUNT_ALL(n, rx, sk, over, bytes);
	return 0;
}

/*
 * Where the kernel has no such tracepoints (before 6.3): the end of the functions that all calls on
 * sockets of TCP and UDP go through. Of other sockets nothing is known then.
 */
static __always_inline void inet_count(struct socket *socket, int bytes, bool sends)
{
	struct sock *sk = socket->sk;
	struct call_entry *n;
	enum protocol over;

	if (!sk || !is_message(sk, bytes))
		return;
	over = protocol_of(sk);
	n = over == OVER_TCP || over == OVER_UDP ? calls_of_current(bpf_get_current_task()) : NULL;
	if (!n)
		return;
	if (sends)
		COUNT_ALL(n, tx, sk, over, bytes);
	else
		COUNT_ALL(n, rx, sk, over, bytes);
}

SEC("?fexit/inet_sendmsg")
int BPF_PROG(inet__sendmsg, struct socket *socket, void *message, size_t size, int bytes)
{
	inet_count(socket, bytes, true);
	return 0;
}

SEC("?fexit/inet6_sendmsg")
int BPF_PROG(inet__sendmsg6, struct socket *socket, void *message, size_t size, int bytes)
{
	inet_count(socket, bytes, true);
	return 0;
}

/* sendfile() and splice(), of both families */
SEC("?fexit/inet_sendpage")
int BPF_PROG(inet__sendpage, struct socket *socket, void *page, int offset, size_t size, int flags,
	     long bytes)
{
	inet_count(socket, (int)bytes, true);
	return 0;
}

SEC("?fexit/inet_recvmsg")
int BPF_PROG(inet__recvmsg, struct socket *socket, void *message, size_t size, int flags, int bytes)
{
	if (!(flags & MSG_PEEK))
		inet_count(socket, bytes, false);
	return 0;
}

SEC("?fexit/inet6_recvmsg")
int BPF_PROG(inet__recvmsg6, struct socket *socket, void *message, size_t size, int flags,
	     int bytes)
{
	if (!(flags & MSG_PEEK))
		inet_count(socket, bytes, false);
	return 0;
}

/* The current process, if it is followed. */
static __always_inline void owner_set(struct sock *sk, bool listens)
{
	struct task_entry *t = task_find(bpf_get_current_task());
	struct process_entry *p = t ? process_find(t->process) : NULL;
	struct owner *o;

	if (!p)
		return;
	o = bpf_sk_storage_get(&owners, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!o)
		return;
	o->signal = t->process;
	o->serial = t->serial;
	o->account = process_account(p);
	o->listens = listens;
}

static __always_inline void owner_count(struct sock *sk, u32 which)
{
	struct owner *o = bpf_sk_storage_get(&owners, sk, NULL, 0);

	if (o && net_add(o->signal, o->serial, which))
		net_add_late(o->account.tree, o->account.cgroup, which);
}

/* What listens passes its owner on to the connections that come in. */
SEC("?tp_btf/inet_sock_set_state")
int BPF_PROG(sockets__state, struct sock *sk, int from, int to)
{
	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (to == TCP_SYN_SENT || to == TCP_LISTEN)
		owner_set(sk, to == TCP_LISTEN);
	else if (from == TCP_SYN_SENT && to == TCP_ESTABLISHED)
		owner_count(sk, CC_net_connects);
	else if (from == TCP_SYN_SENT && to == TCP_CLOSE)
		owner_count(sk, CC_net_failed_connects);
	else if (from == TCP_SYN_RECV && to == TCP_ESTABLISHED)
		owner_count(sk, CC_net_accepts);
	return 0;
}

SEC("?tp_btf/tcp_retransmit_skb")
int BPF_PROG(sockets__retransmit, struct sock *sk)
{
	owner_count(sk, CC_net_retransmits);
	return 0;
}

SEC("?iter/bpf_sk_storage_map")
int sockets__live(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct owner *o = ctx->value;
	struct sock *sk = ctx->sk;
	struct socket_row row = {};
	struct process_entry *p;
	struct account_key key;

	if (!o || !sk)
		return 0;
	row.state = sk->__sk_common.skc_state;
	if (row.state == TCP_CLOSE)
		return 0;
	key = o->account;
	p = process_find(o->signal);
	if (p && p->event.rec.serial == o->serial)
		key = process_account(p);
	row.tree = key.tree;
	row.cgroup = key.cgroup;
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}
