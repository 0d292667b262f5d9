// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Packets of a cgroup's sockets as IP receives or sends them: bytes with headers, including
 * retransmissions and acknowledgements.
 */
#include "books.bpf.h"

#define LOOPBACK 1 /* ifindex of the loopback device in every network namespace */
#define PASS 1

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wire_counters);
} wire SEC(".maps");

static __always_inline struct wire_counters *wire_find(struct __sk_buff *skb)
{
	u32 zero = 0;

	return skb->ifindex == LOOPBACK ? NULL : bpf_map_lookup_elem(&wire, &zero);
}

/* Atomic additions, as an interrupt may come in between on the same CPU. */
SEC("?cgroup_skb/ingress")
int wire__receive(struct __sk_buff *skb)
{
	struct wire_counters *w = wire_find(skb);

	if (w) {
		add(w->net_wire_rx, skb->len);
		add(w->net_wire_rx_packets, 1);
	}
	return PASS;
}

SEC("?cgroup_skb/egress")
int wire__send(struct __sk_buff *skb)
{
	struct wire_counters *w = wire_find(skb);

	if (w) {
		add(w->net_wire_tx, skb->len);
		add(w->net_wire_tx_packets, 1);
	}
	return PASS;
}
