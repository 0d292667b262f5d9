// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * How long threads have existed. A process and its account grow under one lock: a hook may be
 * interrupted at any place, for as long as the collector takes to read both.
 */
#include "bpfmon.bpf.h"

/* Under its lock: how much the lifetimes have grown until @now, which they reach from then on. */
static __always_inline u64 lifetime_growth(struct process_entry *p, u64 now, u32 how)
{
	u64 grown = p->lived_before;
	s64 threads =
		(s32)p->alive_tasks; /* -1: it exits before the hook that found it has counted it */

	p->lived_before = 0;
	if (how == LIFETIME_OF_LAST) /* it is not among the live ones any more */
		threads = p->event.rec.flags & PROCESS_ENDED ? 1 : 0;
	if (threads <= 0 || now <= p->lived_ns) /* another CPU may have read the clock later */
		return grown;
	grown += (now - p->lived_ns) * threads;
	p->lived_ns = now;
	return grown;
}

int lifetime_commit(u64 signal, u64 serial, u64 now, u32 how)
{
	struct process_entry *p = process_find(signal, serial);
	struct account_key key;
	struct account *a;
	u64 grown;
	int err;

	if (!p || !p->event.rec.signal) /* another hook still fills it in: it has no account yet */
		return 0;
	err = process_lock_account(p, &key, &a);
	if (err ==
	    -EAGAIN) /* the next commit may add this to another account, or by other threads */
		account_lose(key.tree, key.cgroup, LOSS_ACCOUNTS, 1);
	if (err)
		return 0;
	grown = lifetime_growth(p, now, how);
	p->event.rec.lifetime += grown;
	add(a->lifetime, grown);
	process_unlock(p);
	return 0;
}
