// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The tasks and processes we follow, keyed by pointers that are not reused while an entry lives. */
#include "bpfmon.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192); /* set before loading */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct task_entry);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192); /* set before loading */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct process_entry);
} processes SEC(".maps");

const volatile bool can_seed;

struct tracking tracking;
bool misses_seen;
bool seeding;
__u64 seeded_at_ns; /* CLOCK_MONOTONIC: who was there before has been found, or is none of ours */

static const struct process_entry no_process;

__hidden struct task_entry *task_find(u64 task)
{
	return bpf_map_lookup_elem(&tasks, &task);
}

__hidden struct process_entry *process_find(u64 signal)
{
	return bpf_map_lookup_elem(&processes, &signal);
}

__hidden long process_forget(u64 signal)
{
	return bpf_map_delete_elem(&processes, &signal);
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

/*
 * The kernel may use the memory of an entry again as soon as it is deleted: whoever deletes must be
 * one, and know that it is still the one that was meant.
 */
__hidden bool process_begin_closing(struct process_entry *p, u64 serial)
{
	bool is_first;

	process_lock(p);
	is_first = p->event.rec.serial == serial && !p->is_closing;
	if (is_first)
		p->is_closing = 1;
	process_unlock(p);
	return is_first;
}

__hidden void process_tell_and_forget(u64 signal, struct process_entry *p)
{
	if (want_exact_peak)
		mm_forget(signal);
	if (has_lock) {
		process_emit(p);
		process_forget(signal);
	} else if (!process_forget(signal)) { /* another CPU may think it is the last, too */
		process_emit(p);              /* there until this program ends */
		end_forget(signal);
	}
}

/* A process that is over though nothing told us: its record is what is known of it. */
int process_close(u64 key, u64 serial)
{
	struct process_entry *p = process_find(key);
	struct account_key account;

	if (!p || !process_begin_closing(p, serial))
		return 0;
	account = p->event.rec.account;
	if (!(p->event.rec.flags & PROCESS_ENDED)) {
		p->event.rec.flags |= PROCESS_ENDED | PROCESS_END_UNSEEN;
		account_end_process(&account);
	}
	if (want_exact_peak)
		mm_leave(key, true);
	process_tell_and_forget(key, p);
	return 0;
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
	if (!exited)
		account_end_task(&account, false);
	process_lock(p);
	add(p->tasks, -1);
	last = !p->tasks;
	process_unlock(p);
	if (last)
		process_close(signal, serial);
	return 0;
}

/* Known to whoever looks at @task, also while another CPU still fills in the entry. */
static __always_inline u64 process_serial(struct task_struct *task)
{
	return BPF_CORE_READ(task, group_leader, start_boottime) << 10 |
	       (BPF_CORE_READ(task, tgid) & 1023);
}

static __always_inline void process_fill(struct process_entry *p, struct task_struct *task,
					 u64 image, u32 flags)
{
	process_describe(&p->event.rec, task);
	p->event.kind = EVENT_PROCESS;
	p->event.rec.serial = process_serial(task);
	p->event.rec.image = image;
	p->event.rec.flags = flags;
	/* a fork copies the counter: what the parent's was then is what the child's began with */
	if (flags & PROCESS_SEEDED)
		p->event.rec.image =
			p->event.rec.serial; /* the collector asks /proc for its name */
	p->exec_id = flags & PROCESS_LATE ? BPF_CORE_READ(task, group_leader, parent_exec_id)
					  : BPF_CORE_READ(task, self_exec_id);
	p->event.rec.signal = (u64)BPF_CORE_READ(task, signal);
}

/*
 * Whose entry @p is; 0 while another CPU fills it in. Read once: while we look another may close
 * it, and make there, at the same key, the entry that was to be made. What is closed must be the
 * old one.
 */
static __always_inline u64 serial_known(const struct process_entry *p)
{
	const volatile struct process_record *r = &p->event.rec;

	return r->signal ? r->serial : 0;
}

/*
 * Sees to it that the process of the task at @addr has an entry. 1: it is new; 0: it was there; -1:
 * there is none (yet): the map is full, or an old one is about to go.
 */
int process_make(u64 addr, u64 tree, u64 cgroup, u64 image, u32 flags)
{
	struct task_struct *task = (struct task_struct *)addr;
	bool is_leader = BPF_CORE_READ(task, pid) == BPF_CORE_READ(task, tgid);
	u64 key = (u64)BPF_CORE_READ(task, signal), serial, known;
	struct process_entry *p;

	/* the first task of a process nearly always is the one that makes it known */
	if (!is_leader || bpf_map_update_elem(&processes, &key, &no_process, BPF_NOEXIST)) {
		serial = process_serial(task);
		p = process_find(key);
		known = p ? serial_known(p) : 0;
		if (p && (!known || known == serial))
			return 0;
		if (p)
			process_close(key, known);
		if (bpf_map_update_elem(&processes, &key, &no_process, BPF_NOEXIST)) {
			p = process_find(key);
			if (!p)
				add(tracking.loss[LOSS_PROCESSES_FULL], 1);
			known = p ? serial_known(p) : 0;
			return p && (!known || known == serial) ? 0 : -1;
		}
	}
	p = process_find(key);
	if (!p)
		return -1;
	p->event.rec.account.tree = tree;
	p->event.rec.account.cgroup = cgroup;
	process_fill(p, task, image, flags);
	if (can_seed && flags & PROCESS_SEEDED)
		baseline_add_ended((struct signal_struct *)key);
	if (want_exact_peak)
		mm_join(key, (u64)BPF_CORE_READ(task, mm));
	return 1;
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

	if (can_seed && flags & PROCESS_SEEDED)
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

	if (made < 0 || !p)
		return -1;
	err = task_insert(addr, flags);
	if (err && err != -EEXIST) {
		add(tracking.loss[LOSS_TASKS_FULL], 1);
		if (is_new)
			process_forget(signal);
	}
	if (err)
		return err;
	process_lock(p);
	add(p->tasks, 1);
	is_first = !p->event.rec.threads_total;
	add(p->event.rec.threads_total, 1);
	process_unlock(p);
	if (!has_lock)
		is_first = is_new;
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
	return t && task_is((u64)parent, t) && t->start_ns <= BPF_CORE_READ(task, start_time) &&
	       account_of(t, account, image);
}

int task_adopt(u64 task)
{
	struct account_key account;
	u64 image = 0;

	if (can_seed && !seeding &&
	    BPF_CORE_READ((struct task_struct *)task, start_time) < seeded_at_ns)
		return false;
	if (!task_is_ours((struct task_struct *)task, &account, &image))
		return false;
	task_add(task, account.tree, account.cgroup, seeding ? 0 : image,
		 seeding ? PROCESS_ROOT | PROCESS_SEEDED : PROCESS_LATE);
	return true;
}
