// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The tasks and processes we follow, keyed by pointers that are not reused while an entry lives. */
#include "bpfmon.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct task_entry);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct process_entry);
} processes SEC(".maps");

struct tracking tracking;
bool misses_seen;

static const struct process_entry no_process;

__hidden struct task_entry *task_find(u64 task)
{
	return bpf_map_lookup_elem(&tasks, &task);
}

__hidden struct process_entry *process_find(u64 signal)
{
	return bpf_map_lookup_elem(&processes, &signal);
}

static __always_inline void process_describe(struct process_record *r, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct pid *pid = BPF_CORE_READ(leader, thread_pid);
	u32 level = BPF_CORE_READ(pid, level);

	r->pid = BPF_CORE_READ(task, tgid);
	/* CO-RE does not know the stride of an array whose index is a variable */
	bpf_probe_read_kernel(&r->ns_pid, sizeof(r->ns_pid),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      level * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, nr));
	r->ppid = BPF_CORE_READ(leader, real_parent, tgid);
	r->uid = task_uid(task);
	r->start_boot_ns = BPF_CORE_READ(leader, start_boottime);
	BPF_CORE_READ_INTO(&r->comm, leader, comm);
}

/* A process that is over though nothing told us: its record is what is known of it. */
static __always_inline void process_close(u64 key, struct process_entry *p)
{
	struct account_key account = p->event.rec.account;

	if (!(p->event.rec.flags & PROCESS_ENDED)) {
		p->event.rec.flags |= PROCESS_ENDED | PROCESS_END_UNSEEN;
		account_end_process(&account);
	}
	process_emit(p);
	bpf_map_delete_elem(&processes, &key);
}

/*
 * The free event of the task that lived at @key was missed: somebody else lives there now. What it
 * used last is lost unless it had been committed when it was dead.
 */
__hidden void task_close(u64 key)
{
	struct task_entry *t = task_find(key);
	struct process_entry *p = t ? process_find(t->process) : NULL;
	struct account_key account;
	bool is_final, exited, last;
	u64 signal;

	if (!t)
		return;
	is_final = t->final;
	exited = t->exited;
	signal = t->process;
	task_forget(key);
	if (is_final)
		add(tracking.frees_unseen, 1);
	else
		add(tracking.loss[LOSS_STALE], 1);
	if (!p || p->event.rec.serial != t->serial)
		return;
	account = p->event.rec.account;
	if (!exited)
		account_end_task(&account, false);
	bpf_spin_lock(&p->lock);
	p->tasks--;
	last = !p->tasks;
	bpf_spin_unlock(&p->lock);
	if (last)
		process_close(signal, p);
}

/* Known to whoever looks at @task, also while another CPU still fills in the entry. */
static __always_inline u64 process_serial(struct task_struct *task)
{
	return BPF_CORE_READ(task, group_leader, start_boottime) << 10 |
	       (BPF_CORE_READ(task, tgid) & 1023);
}

/* The entry of @task's process, made when it is new; NULL when it does not fit. */
static __always_inline struct process_entry *process_get(struct task_struct *task,
							 struct account_key *account, u64 image,
							 u32 flags, bool *is_new)
{
	bool is_leader = BPF_CORE_READ(task, pid) == BPF_CORE_READ(task, tgid);
	u64 key = (u64)BPF_CORE_READ(task, signal);
	struct process_entry *p = NULL;

	/* the first task of a process nearly always is the one that makes it known */
	if (is_leader && !bpf_map_update_elem(&processes, &key, &no_process, BPF_NOEXIST))
		goto made;
	p = bpf_map_lookup_elem(&processes, &key);
	/* signal is 0 while another CPU fills it in */
	if (p && (!p->event.rec.signal ||
		  p->event.rec.start_boot_ns == BPF_CORE_READ(task, group_leader, start_boottime)))
		return p;
	if (p)
		process_close(key, p);
	if (bpf_map_update_elem(&processes, &key, &no_process, BPF_NOEXIST)) {
		p = bpf_map_lookup_elem(&processes, &key); /* another CPU was first, or full */
		if (!p)
			add(tracking.loss[LOSS_PROCESSES_FULL], 1);
		return p;
	}
made:
	p = bpf_map_lookup_elem(&processes, &key);
	if (!p)
		return NULL;
	process_describe(&p->event.rec, task);
	p->event.kind = EVENT_PROCESS;
	p->event.rec.serial = process_serial(task);
	p->event.rec.image = image;
	p->event.rec.account = *account;
	p->event.rec.flags = flags;
	/* a fork copies the counter: what the parent's was then is what the child's began with */
	p->exec_id = flags & PROCESS_LATE ? BPF_CORE_READ(task, group_leader, parent_exec_id)
					  : BPF_CORE_READ(task, self_exec_id);
	p->event.rec.signal = key;
	*is_new = true;
	return p;
}

/*
 * Does @t still tell of @task, or of one that lived there before and whose free event was missed? A
 * thread that execs takes over the start time of its leader.
 */
__hidden bool task_is(struct task_struct *task, struct task_entry *t)
{
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

__hidden bool task_birth_seen(struct task_struct *task)
{
	struct task_entry *t = task_find((u64)task);

	if (!t || !task_is(task, t))
		return false;
	not_late(t);
	return true;
}

static __always_inline int task_insert(struct task_entry *t)
{
	int err = bpf_map_update_elem(&tasks, &t->task, t, BPF_NOEXIST);
	struct task_entry *old;

	if (err != -EEXIST)
		return err;
	old = task_find(t->task);
	if (old && old->start_ns == t->start_ns) { /* known already */
		if (!t->late)
			not_late(old);
		return err;
	}
	task_close(t->task);
	return bpf_map_update_elem(&tasks, &t->task, t, BPF_NOEXIST);
}

__hidden int task_add(struct task_struct *task, struct account_key *account, u64 image, u32 flags)
{
	struct task_entry t = {
		.task = (u64)task,
		.process = (u64)BPF_CORE_READ(task, signal),
		.start_ns = BPF_CORE_READ(task, start_time),
		.tid = BPF_CORE_READ(task, pid),
		.serial = process_serial(task),
		.late = !!(flags & PROCESS_LATE),
	};
	struct process_entry *p;
	bool is_new = false, is_first;
	int err;

	p = process_get(task, account, image, flags, &is_new);
	if (!p)
		return -1;
	err = task_insert(&t);
	if (err) {
		if (err != -EEXIST) {
			add(tracking.loss[LOSS_TASKS_FULL], 1);
			if (is_new)
				bpf_map_delete_elem(&processes, &t.process);
		}
		return err;
	}
	bpf_spin_lock(&p->lock);
	p->tasks++;
	is_first = !p->event.rec.threads_total++;
	bpf_spin_unlock(&p->lock);
	add(tracking.entries, 1);
	if (t.late)
		add(tracking.adopted_late, 1);
	account_add_task(account, is_first, flags & PROCESS_ROOT);
	return 0;
}

__hidden void task_forget(u64 task)
{
	if (!bpf_map_delete_elem(&tasks, &task))
		add(tracking.entries, -1);
}

__hidden void process_forget(u64 signal)
{
	bpf_map_delete_elem(&processes, &signal);
}

static __always_inline bool account_of(struct task_entry *t, struct account_key *account,
				       u64 *image)
{
	struct process_entry *p = process_find(t->process);

	if (!p)
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
__hidden bool task_is_ours(struct task_struct *task, struct account_key *account, u64 *image)
{
	struct task_struct *parent;
	struct task_entry *t;
	u64 signal = (u64)BPF_CORE_READ(task, signal);
	struct process_entry *p = bpf_map_lookup_elem(&processes, &signal);

	if (p && p->event.rec.signal == signal && p->event.rec.serial == process_serial(task)) {
		*account = p->event.rec.account;
		*image = p->event.rec.image;
		return true;
	}
	parent = BPF_CORE_READ(task, real_parent);
	t = task_find((u64)parent);
	return t && task_is(parent, t) && t->start_ns <= BPF_CORE_READ(task, start_time) &&
	       account_of(t, account, image);
}
