// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Commits what calls have moved through sockets and descriptors from the task to its process and
 * account. The task counts in an entry that it alone writes; commits read it. Connection events are
 * added to process and account at once.
 */
#include "books.bpf.h"

/*
 * Totals over all sockets, which no program counts: they are sums over TCP, UDP, Unix and other
 * sockets.
 */
#define NET_SUM(n, way, what)                                                                      \
	((n)->now.net_##way##_tcp##what + (n)->now.net_##way##_udp##what +                         \
	 (n)->now.net_##way##_unix##what + (n)->now.net_##way##_other##what)

/*
 * Returns the failed connects of @task, with a connect() that began and sent no SYN. That one has
 * failed if the task has slept since, which it does not do before the SYN, or has exited. The order
 * of the reads ensures that what changes meanwhile counts later, never twice.
 */
static __always_inline u64 connects_failed(u64 task, const struct task_entry *t,
					   const struct call_entry *n)
{
	u64 failed = n->now.net_failed_connects, slept, opening;

	if (!n->opening)
		return failed;
	slept = BPF_CORE_READ((struct task_struct *)task, nvcsw);
	opening = n->opening;
	return failed + (opening && (t->exited || opening <= slept));
}

#define ADVANCE(base, value)                                                                       \
	more = counter_advance(&n->done.base, value);                                              \
	if (more) {                                                                                \
		p->event.rec.calls.base += more;                                                   \
		add(a->calls.base, more);                                                          \
	}

static __always_inline void calls_advance(struct call_entry *n, struct process_entry *p,
					  struct account *a, u64 failed)
{
	u64 more;

	n->now.net_rx = NET_SUM(n, rx, );
	n->now.net_tx = NET_SUM(n, tx, );
	n->now.net_rx_messages = NET_SUM(n, rx, _messages);
	n->now.net_tx_messages = NET_SUM(n, tx, _messages);
#define NET_METRIC(base, ...) ADVANCE(base, n->now.base)
#include "bpfmon/metrics.def"
	ADVANCE(net_failed_connects, failed)
}

__hidden void calls_commit(u64 task, struct task_entry *t, struct process_entry *p)
{
	struct call_entry *n = t ? calls_find(task, t->start_ns) : NULL;
	struct account_key key;
	struct account *a;
	u64 failed;
	int err;

	if (!n || !t || !p)
		return;
	failed = connects_failed(task, t, n);
	err = process_lock_account(p, &key, &a);
	if (err == -EAGAIN)
		account_lose(key.tree, key.cgroup, LOSS_ACCOUNTS, 1);
	if (err)
		return;
	if (t->task == task && t->serial == p->event.rec.serial)
		calls_advance(n, p, a, failed);
	process_unlock(p);
}

/* Named one by one, as the verifier loses track of an index. */
#define CONNECTION_COUNTERS(DO)                                                                    \
	DO(net_connects) DO(net_failed_connects) DO(net_accepts) DO(net_retransmits)

static __always_inline void net_add_to(struct call_counters *net, struct account *a, u32 which,
				       u32 more)
{
#define ONE(base)                                                                                  \
	if (which == CC_##base) {                                                                  \
		if (net)                                                                           \
			net->base += more;                                                         \
		add(a->calls.base, more);                                                          \
	}
	CONNECTION_COUNTERS(ONE)
}

int net_add(u64 signal, u64 serial, u32 which, u32 more)
{
	struct process_entry *p = process_find(signal, serial);
	struct account_key key;
	struct account *a;
	bool is_same;

	if (!p || process_lock_account(p, &key, &a))
		return -ESRCH;
	is_same = p->event.rec.serial == serial;
	if (is_same)
		net_add_to(&p->event.rec.calls, a, which, more);
	process_unlock(p);
	return is_same ? 0 : -ESRCH;
}

int net_add_late(u64 tree, u64 cgroup, u32 which, u32 more)
{
	struct account *a = account_open(tree, cgroup);

	if (a)
		net_add_to(NULL, a, which, more);
	return 0;
}
