// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The tasks we follow, keyed by pointers that are not reused while an entry lives. */
#include "bpfmon.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192); /* set before loading */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct task_entry);
} tasks SEC(".maps");

const volatile bool can_seed;

struct tracking tracking;
bool misses_seen;
bool seeding;
__u64 seeded_at_ns; /* CLOCK_MONOTONIC, the collector's: who was there before has been found, or is
		       none of ours */

__hidden struct task_entry *task_find(u64 task)
{
	return bpf_map_lookup_elem(&tasks, &task);
}

/*
 * The free event of the task that lived at @key was missed: somebody else lives there now. What it
 * used last is lost unless it had been committed when it was dead.
 */
int task_close(u64 key)
{
	struct task_entry *t = task_find(key);
	struct process_entry *p = t ? process_find(t->process) : NULL;
	struct account_key account;
	bool is_final, exited, last;
	u64 signal, serial;

	if (!t)
		return 0;
	is_final = t->final;
	exited = t->exited;
	signal = t->process;
	serial = t->serial;
	task_forget(key);
	if (is_final)
		add(tracking.frees_unseen, 1);
	else
		add(tracking.loss[LOSS_STALE], 1);
	if (!p || p->event.rec.serial != serial)
		return 0;
	account = p->event.rec.account;
	if (!exited) {
		add(p->alive_tasks, -1);
		account_end_task(&account, false);
	}
	process_lock(p);
	add(p->tasks, -1);
	last = !p->tasks;
	process_unlock(p);
	if (last)
		process_close(signal, serial, PROCESS_ENDED | PROCESS_END_UNSEEN);
	return 0;
}

/*
 * Does @t still tell of @task, or of one that lived there before and whose free event was missed? A
 * thread that execs takes over the start time of its leader.
 */
__hidden bool task_is(u64 addr, struct task_entry *t)
{
	struct task_struct *task = (struct task_struct *)addr;
	struct process_entry *p;

	if (BPF_CORE_READ(task, start_time) == t->start_ns)
		return true;
	p = process_find(t->process);
	return p && p->event.rec.serial == process_serial(task);
}

/* The pass over all tasks may meet a task before the hooks of its birth do: it is not late then. */
static __always_inline void not_late(struct task_entry *t)
{
	if (!t->late)
		return;
	t->late = 0;
	add(tracking.adopted_late, -1);
}

__hidden bool task_birth_seen(u64 task)
{
	struct task_entry *t = task_find(task);

	if (!t || !task_is(task, t))
		return false;
	not_late(t);
	return true;
}

/* Makes the entry of the task at @addr. -EEXIST: it is known. */
int task_insert(u64 addr, u32 flags)
{
	struct task_struct *task = (struct task_struct *)addr;
	struct task_entry t = {
		.task = addr,
		.process = (u64)BPF_CORE_READ(task, signal),
		.start_ns = BPF_CORE_READ(task, start_time),
		.tid = BPF_CORE_READ(task, pid),
		.serial = process_serial(task),
		.late = !!(flags & PROCESS_LATE),
	};
	struct task_entry *old;
	int err;

	if ((can_seed && flags & PROCESS_SEEDED) || flags & PROCESS_LAUNCHED)
		counters_read(task, &t.last);
	err = bpf_map_update_elem(&tasks, &t.task, &t, BPF_NOEXIST);
	if (can_seed && !err && flags & PROCESS_SEEDED)
		baseline_add(&t.last);
	if (err != -EEXIST)
		return err;
	old = task_find(addr);
	if (old && old->start_ns == t.start_ns) {
		if (!t.late)
			not_late(old);
		return err;
	}
	task_close(addr);
	return bpf_map_update_elem(&tasks, &t.task, &t, BPF_NOEXIST);
}

int task_add(u64 addr, u64 tree, u64 cgroup, u64 image, u32 flags)
{
	int made = process_make(addr, tree, cgroup, image, flags);
	u64 signal = (u64)BPF_CORE_READ((struct task_struct *)addr, signal);
	struct process_entry *p = process_find(signal);
	struct account_key account = { tree, cgroup };
	bool is_new = made > 0, is_first;
	int err;

	if (made == PROCESS_NO_ROOM && !(flags & PROCESS_MOVED))
		task_refuse(addr, !(flags & PROCESS_LATE));
	if (made < 0 || !p)
		return -1;
	err = task_insert(addr, flags);
	if (err && err != -EEXIST) {
		if (!(flags & PROCESS_MOVED))
			task_refuse(addr, !(flags & PROCESS_LATE));
		if (is_new)
			process_forget(signal);
	}
	if (err)
		return err;
	task_refused_forget(addr, !(flags & PROCESS_LATE));
	process_lock(p);
	add(p->tasks, 1);
	is_first = !p->event.rec.threads_total;
	add(p->event.rec.threads_total, 1);
	process_unlock(p);
	add(p->alive_tasks, 1);
	add(tracking.entries, 1);
	if (flags & PROCESS_LATE)
		add(tracking.adopted_late, 1);
	if (flags & PROCESS_SEEDED)
		add(tracking.seeded, 1);
	account_add_task(&account, is_first, flags & PROCESS_ROOT);
	return 0;
}

__hidden void task_forget(u64 task)
{
	if (!bpf_map_delete_elem(&tasks, &task))
		add(tracking.entries, -1);
}

static __always_inline bool account_of(struct task_entry *t, struct account_key *account,
				       u64 *image)
{
	struct process_entry *p = process_find(t->process);

	if (!p || !p->event.rec.signal) /* another CPU still fills it in */
		return false;
	*account = p->event.rec.account;
	*image = p->event.rec.image;
	return true;
}

/*
 * Is @task, which has no entry, one of ours all the same: its process is known, or its parent? A
 * pointer may be dangling (a parent can be freed before @task): whoever lives there now was born
 * later, and is not the parent.
 */
__hidden enum ours task_is_ours(struct task_struct *task, struct account_key *account, u64 *image)
{
	struct task_struct *parent;
	struct task_entry *t;
	u64 signal = (u64)BPF_CORE_READ(task, signal);
	struct process_entry *p = process_find(signal);

	if (by_cgroup && (!cgroup_has((u64)task) || is_own((u64)task)))
		return NOT_OURS;
	if (p && p->event.rec.signal == signal && p->event.rec.serial == process_serial(task)) {
		*account = p->event.rec.account;
		*image = p->event.rec.image;
		return OURS_BY_BIRTH;
	}
	parent = BPF_CORE_READ(task, real_parent);
	t = task_find((u64)parent);
	if (t && task_is((u64)parent, t) && t->start_ns <= BPF_CORE_READ(task, start_time) &&
	    account_of(t, account, image))
		return OURS_BY_BIRTH;
	*account = root_account;
	*image = 0;
	return by_cgroup ? OURS_BY_CGROUP : NOT_OURS;
}

int task_adopt(u64 task)
{
	struct account_key account;
	u64 image = 0;
	enum ours how;

	if (can_seed && !seeding &&
	    (s64)mono_here(BPF_CORE_READ((struct task_struct *)task, start_time)) <
		    (s64)seeded_at_ns)
		return false;
	how = task_is_ours((struct task_struct *)task, &account, &image);
	if (how == NOT_OURS)
		return false;
	/* one that is being moved in is met before its move is told: it counts from now on */
	if (seeding || how == OURS_BY_CGROUP)
		task_add(task, account.tree, account.cgroup, 0, PROCESS_ROOT | PROCESS_SEEDED);
	else
		task_add(task, account.tree, account.cgroup, image, PROCESS_LATE);
	return true;
}
