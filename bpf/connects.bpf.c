// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Connections that fail at once: there is no event if connect() returns an error before it sends a
 * SYN, for instance without a route. But the kernel runs these programs first: if no SYN of the
 * same task follows, the call has failed, which is counted at its next call or at a commit.
 */
#include "books.bpf.h"

#define IPPROTO_TCP 6
#define IPPROTO_MPTCP 262
#define PASS 1

static __always_inline struct call_entry *calls_of(u64 task, bool makes)
{
	struct task_entry *t = task_find(task);
	struct call_entry *n = t ? calls_find(task, t->start_ns) : NULL;

	return n || !t || !makes ? n : calls_make(task, t->start_ns);
}

int connect_opens(void)
{
	struct call_entry *n = calls_of(bpf_get_current_task(), false);

	if (n)
		n->opening = 0;
	return 0;
}

static __always_inline int connect_begin(struct bpf_sock_addr *ctx)
{
	u64 task = bpf_get_current_task();
	struct call_entry *n = NULL;

	if (ctx->protocol == IPPROTO_TCP || ctx->protocol == IPPROTO_MPTCP)
		n = calls_of(task, true);
	if (!n)
		return PASS;
	if (n->opening)
		n->now.net_failed_connects++;
	n->opening = BPF_CORE_READ((struct task_struct *)task, nvcsw) + 1;
	return PASS;
}

/*
 * Does not run for a socket that is connected, connecting or listening: the kernel fails earlier.
 */
SEC("?cgroup/connect4")
int connects__inet(struct bpf_sock_addr *ctx)
{
	return connect_begin(ctx);
}

SEC("?cgroup/connect6")
int connects__inet6(struct bpf_sock_addr *ctx)
{
	return connect_begin(ctx);
}
