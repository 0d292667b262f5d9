// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Moves a process to another account. Its usage so far stays in the old account, later usage goes
 * to the new one, and nothing to both: the account changes under the lock under which commits read
 * it. The process keeps its entry.
 */
#include "tasks.bpf.h"

/* Restarts the record: usage so far stays in the old account only. */
static __always_inline void record_restart(struct process_entry *p, u32 flags, u64 now)
{
	struct process_record *r = &p->event.rec;

	r->counters = (struct task_counters){};
	r->calls = (struct call_counters){};
	r->user = r->system = r->lifetime = 0;
	r->flags |= flags;
	r->execs = 0;
	p->inherited_pages = INHERITED_ALL;
	if (!(flags & PROCESS_SEEDED))
		return;
	r->joined_boot_ns = now;
	r->image = r->serial; /* the collector reads its name in /proc */
}

int process_transfer(u64 signal, u64 serial, u64 tree, u64 cgroup, u32 flags)
{
	struct process_entry *p = process_find(signal, serial);
	struct account_key from;
	u64 now = boot_now();
	bool is_moved, has_ended;
	u32 threads, unknown;

	if (!p)
		return -ESRCH;
	if (account_make(tree, cgroup))
		return -ENOSPC;
	lifetime_commit(signal, serial, bpf_ktime_get_ns(), LIFETIME_OF_LIVE);
	process_lock(p);
	from = p->event.rec.account;
	threads = p->alive_tasks;
	unknown = p->event.rec.flags & (PROCESS_WITHOUT_DELAYS | PROCESS_BLKIO_WRONG);
	has_ended = p->event.rec.flags & PROCESS_ENDED;
	is_moved = !has_ended && p->event.rec.threads_total &&
		   (from.tree != tree || from.cgroup != cgroup);
	if (is_moved) {
		p->event.rec.account.tree = tree;
		p->event.rec.account.cgroup = cgroup;
		if (flags)
			record_restart(p, flags, now);
	}
	process_unlock(p);
	if (!is_moved)
		return has_ended ? -ESRCH : 0;
	account_move_in(tree, cgroup, threads, (flags & PROCESS_ROOT) | unknown);
	account_move_out(from.tree, from.cgroup, threads);
	return 0;
}

/* Only the leader's cgroup counts: threads of a process may be in several. */
int process_recount(u64 addr)
{
	struct task_struct *task = (struct task_struct *)addr;
	struct task_entry *t = task_find(addr);
	struct process_entry *p = process_of(t);
	struct account_key key;
	u64 cgroup;

	if (!p || t->exited || BPF_CORE_READ(task, pid) != BPF_CORE_READ(task, tgid))
		return 0;
	key = process_account(p);
	cgroup = cgroup_of(addr);
	if (!cgroup || cgroup == key.cgroup)
		return 0;
	task_commit(addr, t, p);
	return process_transfer(t->process, t->serial, key.tree, cgroup, 0);
}
