/* SPDX-License-Identifier: BSD-2-Clause */
/* What is counted of sockets and packets, for kernel and collector; bpfmon/shared.h includes it. */
#ifndef BPFMON_SOCKETS_H
#define BPFMON_SOCKETS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define NET_SLOTS 4096 /* a power of two */

/* What the sockets of a task have moved since it was followed; in a process, the sum over its
 * tasks. */
struct net_counters {
#define NET_METRIC(base, ...) __u64 base;
#include "bpfmon/metrics.def"
};

/* The number of each counter in it. */
enum net_counter {
#define NET_METRIC(base, ...) NC_##base,
#include "bpfmon/metrics.def"
	NR_NET_COUNTERS
};

/* Of the packets of a cgroup. */
struct wire_counters {
#define WIRE_METRIC(base, ...) __u64 base;
#include "bpfmon/metrics.def"
};

#endif
