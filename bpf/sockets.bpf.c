// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Bytes that sockets move, counted for the task that moves them; and events of TCP connections.
 * Those often happen in an interrupt with an arbitrary current task, so they are counted for the
 * process that opened the connection or listens.
 */
#include "tasks.bpf.h"

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define AF_NETLINK 16
#define SOCK_STREAM 1
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define IPPROTO_UDPLITE 136
#define IPPROTO_MPTCP 262
#define MSG_PEEK 2
#define MSG_ERRQUEUE 0x2000
#define RCV_SHUTDOWN 1
#define IFF_LOOPBACK 8
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3
#define TCP_FIN_WAIT1 4
#define TCP_CLOSE 7
#define TCP_LISTEN 10
#define WAITING_MOST 128
#define PASS 1 /* return value of cgroup programs: continue */

#include "calls.bpf.h"
#include "peers.bpf.h"

static __always_inline u64 current_start(void)
{
	/* a direct load: a helper call would cost measurably */
	return bpf_get_current_task_btf()->start_time;
}

enum protocol { OVER_TCP, OVER_UDP, OVER_UNIX, OVER_OTHER };

/*
 * Unlike all other programs this one loads directly through @sk: a helper call takes as long as the
 * rest of this function, and a run with --net can wait for the longer verification.
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

/* Returns the first subflow of an MPTCP socket, which has its route; NULL if there is none. */
static __always_inline struct sock *first_subflow(struct sock *sk)
{
	if (sk->sk_protocol != IPPROTO_MPTCP ||
	    !bpf_core_field_exists(((struct mptcp_sock *)0)->first))
		return NULL;
	return BPF_CORE_READ((struct mptcp_sock *)sk, first);
}

/* Returns true if @sk sends by the loopback device; a connected socket caches its route. */
static __always_inline bool is_loopback(struct sock *sk)
{
	u32 family = sk->__sk_common.skc_family;
	struct dst_entry *route;
	struct sock *first;

	if (family != AF_INET && family != AF_INET6)
		return false;
	first = first_subflow(sk);
	if (first)
		return BPF_CORE_READ(first, sk_dst_cache, dev, flags) & IFF_LOOPBACK;
	route = sk->sk_dst_cache;
	return route && route->dev->flags & IFF_LOOPBACK;
}

/* The process that opened a connection or listens for it; freed with the socket. */
struct owner {
	u64 signal, serial;
	struct account_key account; /* used if the process is gone */
	u32 listens;     /* 1 for a listening socket and the connections that it accepts */
	u32 retransmits; /* retransmitted segments counted so far */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct owner);
} owners SEC(".maps");

/*
 * Live sockets with an owner, by address. The event that closes one may be missed and its memory
 * reused by another socket, which has another cookie.
 */
struct live_socket {
	u64 cookie;
	struct owner owner;
	u64 pass; /* number of the last pass that met it */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct live_socket);
} live_sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SOCKET_ROWS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct socket_row);
} socket_rows SEC(".maps");

struct pass socket_pass;
__u64 sockets_lost; /* live sockets that did not fit into the map */

/*
 * Returns true for a connection that was accepted. It has the backlog length of the listening
 * socket that it was copied from, whichever process listens and since when. Where that is 0, the
 * owner in the storage decides.
 */
static __always_inline bool socket_is_accepted(struct sock *sk)
{
	struct sock *first = first_subflow(sk);
	struct owner *o;

	if (first ? BPF_CORE_READ(first, sk_max_ack_backlog) : sk->sk_max_ack_backlog)
		return true;
	o = bpf_sk_storage_get(&owners, sk, NULL, 0);
	return o && o->listens;
}

#define COUNT_PEER(n, way, sk, over, bytes)                                                        \
	({                                                                                         \
		const bool is_tcp = (over) == OVER_TCP;                                            \
		struct peer_count *c = peer_of(sk, is_tcp, is_tcp && socket_is_accepted(sk), n);   \
                                                                                                   \
		if (c) {                                                                           \
			add(c->way, bytes);                                                        \
			add(c->way##_messages, 1);                                                 \
		}                                                                                  \
	})

/* Only the task itself adds to its entry: no atomic additions needed. */
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
			COUNT_PEER(n, way, sk, over, bytes);                                       \
	})

/*
 * Keeps the address of a datagram that is being sent over a socket connected to another address:
 * the hooks at the end of the call do not see it.
 */
static __always_inline int address_keep(struct bpf_sock_addr *call, u32 a0, u32 a1, u32 a2, u32 a3)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	u64 addr = (u64)task, start_ns = BPF_CORE_READ(task, start_time);
	struct bpf_sock *sk = call->sk;
	struct call_entry *n;

	if (!sk || sk->state != TCP_ESTABLISHED)
		return PASS;
	n = calls_find(addr, start_ns);
	if (!n && task_find_begun(addr, start_ns))
		n = calls_make(addr, start_ns);
	if (n)
		n->to = (struct peer_key){ .address = { a0, a1, a2, a3 },
					   .port = bpf_ntohs(call->user_port),
					   .protocol = PEER_UDP };
	return PASS;
}

SEC("?cgroup/sendmsg4")
int sockets__sendmsg4(struct bpf_sock_addr *call)
{
	return address_keep(call, 0, 0, bpf_htonl(0xffff), call->user_ip4);
}

SEC("?cgroup/sendmsg6")
int sockets__sendmsg6(struct bpf_sock_addr *call)
{
	return address_keep(call, call->user_ip6[0], call->user_ip6[1], call->user_ip6[2],
			    call->user_ip6[3]);
}

/* The call has failed: the address must not be used for the next call. */
static __always_inline void address_forget(void)
{
	struct call_entry *n = calls_find(bpf_get_current_task(), current_start());

	if (n)
		n->to.protocol = 0;
}

/* An empty datagram is a message, the end of a stream is not. */
static __always_inline bool is_message(struct sock *sk, int bytes)
{
	return bytes > 0 || (!bytes && sk->sk_type != SOCK_STREAM);
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(sockets__send, struct sock *sk, int bytes)
{
	struct call_entry *n = is_message(sk, bytes) ? calls_of_current(current_start()) : NULL;
	enum protocol over;

	if (want_peers && bytes < 0)
		address_forget();
	if (!n)
		return 0;
	over = protocol_of(sk);
	COUNT_ALL(n, tx, sk, over, bytes);
	return 0;
}

/*
 * Returns true if the call has received something. Peeked data is received later. The error queue
 * has notices of the kernel and copies of sent data; Unix sockets and netlink have none and receive
 * in spite of the flag. After an end by the peer or shutdown() nothing is left to receive: that is
 * no empty message. An empty message directly before it looks the same and is not counted.
 */
static __always_inline bool is_received(struct sock *sk, int bytes, int flags)
{
	u32 family = sk->__sk_common.skc_family;

	if (flags & MSG_PEEK ||
	    (flags & MSG_ERRQUEUE && family != AF_UNIX && family != AF_NETLINK) ||
	    (!bytes && sk->sk_shutdown & RCV_SHUTDOWN && !sk->sk_receive_queue.qlen))
		return false;
	return is_message(sk, bytes);
}

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(sockets__receive, struct sock *sk, int bytes, int flags)
{
	struct call_entry *n = NULL;
	enum protocol over;

	if (is_received(sk, bytes, flags))
		n = calls_of_current(current_start());
	if (!n)
		return 0;
	over = protocol_of(sk);
	COUNT_ALL(n, rx, sk, over, bytes);
	return 0;
}

/*
 * Before 6.3, without these tracepoints: the end of the functions that all calls on TCP and UDP
 * sockets go through. Other sockets are not counted there.
 */
static __always_inline void inet_count(struct socket *socket, int bytes, bool sends, int flags)
{
	struct sock *sk = socket->sk;
	struct call_entry *n;
	enum protocol over;

	if (want_peers && sends && bytes < 0)
		address_forget();
	if (!sk || !(sends ? is_message(sk, bytes) : is_received(sk, bytes, flags)))
		return;
	over = protocol_of(sk);
	if (over != OVER_TCP && over != OVER_UDP)
		return;
	n = calls_of_current(
		BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), start_time));
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
	inet_count(socket, bytes, true, 0);
	return 0;
}

SEC("?fexit/inet6_sendmsg")
int BPF_PROG(inet__sendmsg6, struct socket *socket, void *message, size_t size, int bytes)
{
	inet_count(socket, bytes, true, 0);
	return 0;
}

/* sendfile() and splice() of both families */
SEC("?fexit/inet_sendpage")
int BPF_PROG(inet__sendpage, struct socket *socket, void *page, int offset, size_t size, int flags,
	     long bytes)
{
	inet_count(socket, (int)bytes, true, 0);
	return 0;
}

SEC("?fexit/inet_recvmsg")
int BPF_PROG(inet__recvmsg, struct socket *socket, void *message, size_t size, int flags, int bytes)
{
	inet_count(socket, bytes, false, flags);
	return 0;
}

SEC("?fexit/inet6_recvmsg")
int BPF_PROG(inet__recvmsg6, struct socket *socket, void *message, size_t size, int flags,
	     int bytes)
{
	inet_count(socket, bytes, false, flags);
	return 0;
}

static __always_inline u32 retransmits_read(struct sock *sk)
{
	return BPF_CORE_READ((struct tcp_sock *)sk, total_retrans);
}

/* Sets @o to the process of @t. Returns false if that is not tracked. */
static __always_inline bool owner_read(struct task_entry *t, bool listens, struct owner *o)
{
	struct process_entry *p = process_of(t);

	if (!p)
		return false;
	*o = (struct owner){ .signal = t->process,
			     .serial = t->serial,
			     .account = process_account(p),
			     .listens = listens };
	return true;
}

static __always_inline void owner_put(struct sock *sk, const struct owner *owner)
{
	struct owner *o = bpf_sk_storage_get(&owners, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (!o)
		return;
	*o = *owner;
	o->retransmits = retransmits_read(sk);
}

static __always_inline void owner_add(struct owner *o, u32 which, u32 more)
{
	if (more && net_add(o->signal, o->serial, which, more))
		net_add_late(o->account.tree, o->account.cgroup, which, more);
}

/*
 * Adds retransmitted segments from the kernel's own counter: one event may have several. An
 * incoming connection starts with the answers that were retransmitted before its socket existed.
 */
static __always_inline void owner_add_retransmits(struct owner *o, struct sock *sk)
{
	u32 now = retransmits_read(sk);

	owner_add(o, CC_net_retransmits, now - o->retransmits);
	o->retransmits = now;
}

static __always_inline void live_put(struct sock *sk, const struct owner *o)
{
	struct live_socket live = { .cookie = bpf_get_socket_cookie(sk), .owner = *o };
	u64 address = as_number(sk);

	if (bpf_map_update_elem(&live_sockets, &address, &live, BPF_ANY))
		add(sockets_lost, 1);
}

/* Updates the map of live sockets after a change to @state. */
static __always_inline void live_update(struct sock *sk, struct owner *o, int state)
{
	u64 address = as_number(sk);
	struct live_socket *known;

	if (state == TCP_CLOSE) {
		bpf_map_delete_elem(&live_sockets, &address);
		return;
	}
	known = bpf_map_lookup_elem(&live_sockets, &address);
	if (!known || known->cookie != bpf_get_socket_cookie(sk) || state == TCP_SYN_SENT ||
	    state == TCP_LISTEN) /* only in these states may the owner have changed */
		live_put(sk, o);
}

/*
 * Returns the counter that the change increments, or NR_CALL_COUNTERS. A socket that connects may
 * meet one that does the same: then it receives a SYN, too. With TCP Fast Open a connection may be
 * accepted, used and closed before it is established.
 */
static __always_inline u32 counter_of_state(const struct owner *o, int from, int to)
{
	const bool opens = from == TCP_SYN_SENT || (from == TCP_SYN_RECV && !o->listens);

	if (opens && to == TCP_CLOSE)
		return CC_net_failed_connects;
	if (to != TCP_ESTABLISHED && (from != TCP_SYN_RECV || to != TCP_FIN_WAIT1))
		return NR_CALL_COUNTERS;
	if (opens)
		return CC_net_connects;
	return from == TCP_SYN_RECV ? CC_net_accepts : NR_CALL_COUNTERS;
}

/* Returns true for a further subflow of an incoming MPTCP connection. */
static __always_inline bool subflow_is_joined(struct sock *sk)
{
	struct mptcp_subflow_context *c;

	if (!bpf_core_field_exists(((struct tcp_sock *)0)->is_mptcp) ||
	    !BPF_CORE_READ((struct tcp_sock *)sk, is_mptcp))
		return false;
	c = BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_data);
	return c && BPF_CORE_READ_BITFIELD_PROBED(c, mp_join);
}

/* A listening socket passes its owner on to the connections that it accepts. */
SEC("?tp_btf/inet_sock_set_state")
int BPF_PROG(sockets__state, struct sock *sk, int from, int to)
{
	const bool is_mptcp = sk->sk_protocol == IPPROTO_MPTCP;
	struct owner opens, *o;
	u32 which;

	if (sk->sk_protocol != IPPROTO_TCP && !(is_mptcp && to == TCP_LISTEN))
		return 0;
	if ((to == TCP_SYN_SENT || to == TCP_LISTEN) &&
	    owner_read(task_find(bpf_get_current_task()), to == TCP_LISTEN, &opens))
		owner_put(sk, &opens);
	if (to == TCP_SYN_SENT)
		connect_opens();
	if (is_mptcp) /* its first subflow is counted */
		return 0;
	o = bpf_sk_storage_get(&owners, sk, NULL, 0);
	if (!o)
		return 0;
	which = counter_of_state(o, from, to);
	if (which < NR_CALL_COUNTERS && (which != CC_net_accepts || !subflow_is_joined(sk)))
		owner_add(o, which, 1);
	owner_add_retransmits(o, sk);
	live_update(sk, o, to);
	return 0;
}

SEC("?tp_btf/tcp_retransmit_skb")
int BPF_PROG(sockets__retransmit, struct sock *sk)
{
	struct owner *o = bpf_sk_storage_get(&owners, sk, NULL, 0);

	if (o)
		owner_add_retransmits(o, sk);
	return 0;
}

/* Takes a number, so that it is verified once. Returns 1 if there is no room for a row. */
int socket_row_write(u64 address)
{
	struct live_socket *live = bpf_map_lookup_elem(&live_sockets, &address);
	struct sock *sk = (struct sock *)address;
	u32 at = socket_pass.rows, state = BPF_CORE_READ(sk, __sk_common.skc_state);
	struct socket_row *row = bpf_map_lookup_elem(&socket_rows, &at);
	struct process_entry *p;
	struct account_key key;

	if (!row) {
		socket_pass.is_cut = 1;
		return 1;
	}
	if (!live)
		return 0;
	/*
	 * The cookie is read after the state, so a match shows that the state was this socket's.
	 * TCP_CLOSE is the end only after a pass has met it alive: a socket enters its state after
	 * its event.
	 */
	if ((u64)BPF_CORE_READ(sk, __sk_common.skc_cookie.counter) != live->cookie ||
	    (state == TCP_CLOSE && live->pass)) {
		bpf_map_delete_elem(&live_sockets, &address);
		return 0;
	}
	live->pass = socket_pass.number;
	if (state == TCP_CLOSE)
		return 0;
	key = live->owner.account;
	p = process_find(live->owner.signal, live->owner.serial);
	if (p && p->event.rec.signal)
		key = process_account(p);
	row->tree = key.tree;
	row->cgroup = key.cgroup;
	row->state = state;
	socket_pass.rows = at + 1;
	return 0;
}

static long socket_visit(struct bpf_map *map, u64 *key, struct live_socket *live, void *context)
{
	if (live->pass == socket_pass.number)
		return 0;
	return is_set(socket_row_write(*key)); /* see process_visit() */
}

SEC("?iter/task")
int sockets__live(struct bpf_iter__task *ctx)
{
	if (!ctx->task) /* the call after the last task */
		bpf_for_each_map_elem(&live_sockets, socket_visit, NULL, 0);
	return 0;
}

/*
 * Makes @o the owner of a socket that existed before the attach. Returns false if it has one: the
 * first of several tasks with the socket owns it.
 */
static __always_inline bool socket_seed(struct sock *sk, const struct owner *o)
{
	if (bpf_sk_storage_get(&owners, sk, NULL, 0))
		return false;
	owner_put(sk, o);
	if (sk->sk_protocol == IPPROTO_TCP)
		live_put(sk, o);
	else /* the counted subflow of an MPTCP socket cannot be reached */
		add(sockets_lost, 1);
	return true;
}

/*
 * Seeds the connections that wait to be accepted, which no file refers to. Each is read without a
 * lock: it may be another socket by now, but its memory stays a socket until this call ends.
 */
static __always_inline void backlog_seed(struct sock *sk, const struct owner *o)
{
	struct tcp_sock *listens = bpf_skc_to_tcp_sock(sk);
	struct request_sock *r =
		listens ? listens->inet_conn.icsk_accept_queue.rskq_accept_head : NULL;

	for (int i = 0; r && i < WAITING_MOST; i++) {
		struct sock *child = r->sk;

		if (child && child->__sk_common.skc_prot == sk->__sk_common.skc_prot)
			socket_seed(child, o);
		r = r->dl_next;
	}
	if (r)
		add(sockets_lost, sk->sk_ack_backlog - WAITING_MOST);
}

/* Seeds the sockets that tasks had when they were attached. */
SEC("?iter/task_file")
int sockets__seed(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct socket *socket = task && file ? bpf_sock_from_file(file) : NULL;
	struct sock *sk = socket ? socket->sk : NULL;
	struct owner o;
	u32 state;

	if (!sk || sk->sk_type != SOCK_STREAM || protocol_of(sk) != OVER_TCP ||
	    !owner_read(task_find(as_number(task)), true, &o))
		return 0;
	state = sk->__sk_common.skc_state;
	o.listens = state == TCP_LISTEN || socket_is_accepted(sk);
	if (state != TCP_CLOSE && socket_seed(sk, &o) && state == TCP_LISTEN)
		backlog_seed(sk, &o);
	return 0;
}
