// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Entries of processes: made with their first task, closed when no task is left. */
#include "tasks.bpf.h"

static __always_inline void process_describe(struct process_record *r, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	r->tgid = BPF_CORE_READ(task, tgid);
	r->pid = pid_here((u64)task);
	r->ns_pid = pid_innermost((u64)task);
	r->ppid = pid_here((u64)BPF_CORE_READ(leader, real_parent));
	r->uid = task_uid(task);
	r->start_boot_ns = boot_convert(BPF_CORE_READ(leader, start_boottime));
	BPF_CORE_READ_INTO(&r->comm, leader, comm);
}

/*
 * The kernel may reuse the memory of a deleted entry, so only one caller may delete it, and only
 * while it is the entry of the process @serial.
 */
__hidden bool process_begin_closing(struct process_entry *p, u64 serial, u32 most_tasks)
{
	bool is_first;

	process_lock(p);
	is_first = p->event.rec.serial == serial && !p->is_closing && p->tasks <= most_tasks;
	if (is_first)
		p->is_closing = 1;
	process_unlock(p);
	return is_first;
}

/*
 * Counts the tasks that @p still has open although the memory of its signal_struct has been reused:
 * their free events were missed, and the usage that was not final is lost.
 */
static __always_inline void process_lose_tasks(struct process_entry *p, struct account_key *account)
{
	const u32 final = p->final_tasks;

	add(tracking.frees_unseen, final);
	if (p->tasks > final)
		account_lose(account->tree, account->cgroup, LOSS_STALE, (s32)(p->tasks - final));
}

/* Emits the record with everything that is known. */
int process_close(u64 key, u64 serial, u32 how, u32 most_tasks)
{
	struct process_entry *p = process_find(key, serial);
	struct account_key account;

	if (!p || !process_begin_closing(p, serial, most_tasks))
		return 0;
	lifetime_commit(key, serial, bpf_ktime_get_ns(), LIFETIME_OF_LIVE);
	account = process_account(p);
	if (p->tasks)
		process_lose_tasks(p, &account);
	if (!(p->event.rec.flags & PROCESS_ENDED)) {
		p->event.rec.flags |= how;
		if (how & PROCESS_LEFT) {
			p->event.rec.end_boot_ns = boot_now();
			account_leave_process(account.tree, account.cgroup);
		} else {
			account_end_process(account.tree, account.cgroup, p->alive_tasks);
		}
	}
	if (want_exact_peak)
		mm_leave(key, serial, true);
	process_emit_and_delete(key, p);
	return 0;
}

static __always_inline u64 current_mm(void)
{
	return (u64)BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), mm);
}

static __always_inline void process_fill(struct process_entry *p, struct task_struct *task,
					 u64 image, u32 flags)
{
	process_describe(&p->event.rec, task);
	p->event.kind = EVENT_PROCESS;
	p->event.rec.serial = process_serial(task);
	p->event.rec.image = image;
	p->event.rec.flags = flags;
	if (flags & PROCESS_SEEDED)
		p->event.rec.joined_boot_ns = boot_now();
	if (flags & PROCESS_SEEDED || (by_cgroup && flags & PROCESS_ROOT))
		/* the collector reads its name in /proc */
		p->event.rec.image = p->event.rec.serial;
	/* a fork copies the counter: the child began with the value of its parent */
	p->exec_id = flags & PROCESS_LATE ? BPF_CORE_READ(task, group_leader, parent_exec_id)
					  : BPF_CORE_READ(task, self_exec_id);
	p->event.rec.signal = (u64)BPF_CORE_READ(task, signal);
}

/*
 * Notes which memory a new process has: it copies or shares that of its creator, which is
 * `current`.
 */
static __always_inline void memory_inherit(struct process_entry *p, u64 mm, u32 flags)
{
	p->event.rec.mm = mm;
	p->inherited_pages = INHERITED_ALL;
	if (!mm || flags & (PROCESS_LATE | PROCESS_SEEDED | PROCESS_LAUNCHED))
		return;
	if (mm == current_mm()) {
		p->event.rec.flags |= PROCESS_SHARES;
	} else if (want_memory) {
		p->inherited_pages = resident_read_at_birth(mm);
		p->seen.mm = mm; /* it may shrink before a drain reads it */
		p->seen.largest_pages = p->inherited_pages;
	}
}

int process_make(u64 addr, u64 tree, u64 cgroup, u64 image, u32 flags)
{
	struct task_struct *task = (struct task_struct *)addr;
	bool is_leader = BPF_CORE_READ(task, pid) == BPF_CORE_READ(task, tgid);
	u64 key = (u64)BPF_CORE_READ(task, signal), serial = process_serial(task), known;
	struct process_entry *p;

	/* the leader is nearly always the first task of a process that is met */
	if (!is_leader || process_put(key)) {
		if (process_find(key, serial))
			return 0;
		known = process_find_stale(key, serial);
		if (known)
			process_close(key, known, PROCESS_ENDED | PROCESS_END_UNSEEN, ANY_TASKS);
		if (process_put(key)) {
			if (process_find(key, serial))
				return 0;
			return process_find_stale(key, serial) ? -1 : PROCESS_NO_ROOM;
		}
	}
	p = process_find(key, serial);
	if (!p)
		return -1;
	p->event.rec.account.tree = tree;
	p->event.rec.account.cgroup = cgroup;
	process_fill(p, task, image, flags);
	memory_inherit(p, (u64)BPF_CORE_READ(task, mm), flags);
	if (can_seed && flags & PROCESS_SEEDED)
		baseline_add_ended((struct signal_struct *)key);
	if (want_exact_peak)
		mm_join(key, serial, p->event.rec.mm);
	return 1;
}
