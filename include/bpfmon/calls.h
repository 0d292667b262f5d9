/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What BPF programs count at calls on descriptors and sockets, for connections, peers and packets.
 * Part of the interface between kernel and collector; bpfmon/shared.h includes it.
 */
#ifndef BPFMON_CALLS_H
#define BPFMON_CALLS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define CALL_SLOTS 4096 /* a power of two */

/*
 * What the calls of a task have moved since it is tracked, over sockets and by kind of file. In a
 * process: the sum over its tasks, and its connections.
 */
struct call_counters {
#define NET_METRIC(base, ...) __u64 base;
#include "bpfmon/metrics.def"
};

/* Numbers of the call counters (rows of KIND_METRIC are NET_METRICs here). */
enum call_counter {
#define NET_METRIC(base, ...) CC_##base,
#include "bpfmon/metrics.def"
	NR_CALL_COUNTERS
};

enum peer_protocol { PEER_TCP = 1, PEER_UDP, PEER_UNCONNECTED /* UDP with unknown peer */ };

struct peer_key {
	__u32 address[4]; /* IPv6 in network byte order; IPv4 as ::ffff:a.b.c.d */
	__u16 port;       /* 0 if the peer connected to a socket that listens here */
	__u16 protocol;   /* enum peer_protocol */
};

struct peer_count {
	__u64 rx, tx; /* bytes */
	__u64 rx_messages, tx_messages;
};

#define MAX_PEERS 16384 /* of a run; further peers are counted as lost */

#define NR_TCP_STATES 16   /* upper bound of the kernel's TCP states */
#define MAX_SOCKETS 16384  /* live TCP sockets of a run; further sockets are counted as lost */
#define NODE_SOCKETS 65536 /* live TCP sockets of a node */
#define SOCKET_ROWS 1024   /* rows of one run of the pass over live sockets */

/* A live TCP socket. Its account may be closed by now. */
struct socket_row {
	__u64 tree, cgroup;
	__u32 state;
	__u32 pad;
};

/* Packets of a cgroup. */
struct wire_counters {
#define WIRE_METRIC(base, ...) __u64 base;
#include "bpfmon/metrics.def"
};

#endif
