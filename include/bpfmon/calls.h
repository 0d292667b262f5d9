/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is counted of calls on descriptors and sockets, and of connections, peers and packets, for
 * kernel and collector; bpfmon/shared.h includes it.
 */
#ifndef BPFMON_CALLS_H
#define BPFMON_CALLS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define CALL_SLOTS 4096 /* a power of two */

/*
 * What calls of a task have moved since it was followed, over sockets and by the kind of file; in a
 * process, the sum over its tasks, and its connections.
 */
struct call_counters {
#define NET_METRIC(base, ...) __u64 base;
#include "bpfmon/metrics.def"
};

/* The numbers of these counters (rows of KIND_METRIC are NET_METRIC ones here). */
enum call_counter {
#define NET_METRIC(base, ...) CC_##base,
#include "bpfmon/metrics.def"
	NR_CALL_COUNTERS
};

enum peer_protocol { PEER_TCP = 1, PEER_UDP, PEER_UNCONNECTED /* UDP, the peer is not known */ };

struct peer_key {
	__u32 address[4]; /* IPv6, in the order of the network; IPv4 as ::ffff:a.b.c.d */
	__u16 port;       /* 0: it has connected to a socket that listens here */
	__u16 protocol;   /* enum peer_protocol */
};

struct peer_count {
	__u64 rx, tx; /* bytes */
	__u64 rx_messages, tx_messages;
};

#define MAX_PEERS 16384 /* of a run; further ones are counted as lost */

#define NR_TCP_STATES 16   /* more than the kernel has */
#define MAX_SOCKETS 16384  /* live TCP sockets of a run; further ones are counted as lost */
#define NODE_SOCKETS 65536 /* of a node */
#define SOCKET_ROWS 1024   /* of a run of the pass over them */

/* A live TCP socket; its account may be gone, and its owner's be another one. */
struct socket_row {
	__u64 tree, cgroup;
	__u32 state;
	__u32 pad;
};

/* Of the packets of a cgroup. */
struct wire_counters {
#define WIRE_METRIC(base, ...) __u64 base;
#include "bpfmon/metrics.def"
};

#endif
