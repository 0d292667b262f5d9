// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Hooks that track tasks from birth to release. A hook may miss an event (tracepoint programs can
 * be preempted from 7.0 on): each hook, and the iterator over all tasks, adopts tasks that an
 * earlier one missed. Counters are absolute since birth, so a late adoption loses nothing.
 */
#include "tasks.bpf.h"
#include "delays.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 inject_misses, inject_free_misses;

/* Processes that the next run of follow__adopt makes roots of @root_account. */
__u32 root_pids[MAX_TARGETS];
__u32 nr_root_pids;
__u64 task_fields; /* mask by enum task_counter of the fields that this kernel has */

static __always_inline bool miss_is_drawn(u32 thousandths)
{
	return thousandths && bpf_get_prandom_u32() % 1000 < thousandths;
}

static __always_inline bool event_is_missed(void)
{
	return miss_is_drawn(inject_misses);
}

/*
 * Returns the entry of @task. Adopts the task if its birth was missed; returns NULL if it is not
 * tracked.
 */
static __always_inline struct task_entry *task_find_or_adopt(u64 task)
{
	struct task_entry *t = task_find(task);

	if (t)
		return t;
	task_close_stale(task);
	return task_adopt(task) ? task_find(task) : NULL;
}

/*
 * Births on the whole machine that at least one of the two hooks has seen. The kernel counts
 * births, too: the difference was missed by both. A child seen by the first hook is kept until the
 * second hook runs, so that it is counted once.
 */
#define BIRTH_SLOTS 256

__u64 birth_slots[BIRTH_SLOTS];

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} births SEC(".maps");

static __always_inline void birth_count(u64 child, bool is_second_hook)
{
	u64 *slot = &birth_slots[child >> 6 & (BIRTH_SLOTS - 1)], *n;
	u32 zero = 0;

	if (is_second_hook && *slot == child)
		return;
	*slot = child;
	n = bpf_map_lookup_elem(&births, &zero);
	if (n)
		add(*n, 1);
}

/* Makes an entry for @child. Returns false if it is not tracked, or not yet. */
static __always_inline bool child_track(u64 creator, u64 child)
{
	struct account_key account;
	struct task_entry *t;
	struct process_entry *p;

	/* the cgroup of a child may differ from its creator's */
	if (by_cgroup && !cgroup_has(child))
		return false;
	t = task_find_or_adopt(creator);
	p = process_of(t);
	if (by_cgroup && !p) {
		if (task_is_own(child)) /* a thread of the collector */
			return false;
		task_add(child, root_account.tree, root_account.cgroup, 0, PROCESS_ROOT);
		return true;
	}
	if (whole_node && !t) { /* there was no room for its creator */
		task_add(child, 0, cgroup_of(child), 0, 0);
		return true;
	}
	if (!p ||
	    !p->event.rec.signal) /* another CPU still fills it in: the child is found later */
		return false;
	account = process_account(p);
	task_add(child, account.tree, whole_node ? cgroup_of(child) : account.cgroup,
		 p->event.rec.image, 0);
	return true;
}

/*
 * Closes entries that an earlier task left at @addr and an earlier address space left at the mm of
 * the new task, even if that is not tracked: its events would be taken for those of the earlier
 * ones.
 */
static __always_inline void address_close_stale(u64 addr)
{
	struct task_struct *creator = (struct task_struct *)bpf_get_current_task();
	u64 mm;

	task_close_stale(addr);
	if (!want_exact_peak || task_find(addr)) /* the iterator may have been first */
		return;
	mm = (u64)BPF_CORE_READ((struct task_struct *)addr, mm);
	if (mm && mm != (u64)BPF_CORE_READ(creator, mm))
		mm_note_born(mm);
}

/* Sees io_uring workers, too. Membership comes from the creator, not from the parent. */
SEC("tp_btf/task_newtask")
int BPF_PROG(follow__newtask, struct task_struct *child, u64 flags)
{
	u64 addr = as_number(child);

	birth_count(addr, false);
	if (event_is_missed())
		return 0;
	address_close_stale(addr);
	child_track(bpf_get_current_task(), addr);
	dying_commit();
	return 0;
}

/* Adopts children that task_newtask has missed. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow__fork, struct task_struct *creator, struct task_struct *child)
{
	u64 addr = as_number(child), of_creator = as_number(creator), image;
	struct account_key account;

	birth_count(addr, true);
	if (task_birth_seen(addr))
		return 0;
	if (!event_is_missed())
		child_track(bpf_get_current_task(), addr);
	else if (task_find(of_creator) ||
		 task_should_track((struct task_struct *)of_creator, &account, &image))
		add(tracking.births_ignored, 1);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(follow__exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	u64 addr = bpf_get_current_task(), image = serial_new();
	struct process_record *r;
	struct process_entry *p;
	struct account_key key;
	struct task_entry *t;

	if (event_is_missed())
		return 0;
	if (want_exact_peak)
		mm_note_born((u64)BPF_CORE_READ(task, mm));
	t = task_find_or_adopt(addr);
	p = process_of(t);
	if (!p)
		return 0;
	r = &p->event.rec;
	key = process_account(p);
	if (want_calls)
		calls_take_over(addr, t->start_ns, task->start_time);
	t->tid = task->pid; /* a thread takes over the PID of its leader */
	t->start_ns = task->start_time;
	execs_catch_up(p, task->self_exec_id - 1);
	account_add_execs(key.tree, key.cgroup, 1);
	peak_note_exec(task, p);
	r->execs++;
	r->image = image;
	r->flags &= ~(PROCESS_IMAGE_UNKNOWN | PROCESS_SHARES);
	r->uid = task_uid(task);
	r->mm = (u64)BPF_CORE_READ(task, mm);
	p->exec_id = task->self_exec_id;
	BPF_CORE_READ_INTO(&r->comm, task, comm);
	if (want_exact_peak) {
		/* the old address space was given up just before */
		mm_leave(t->process, t->serial, true);
		mm_join(t->process, t->serial, r->mm);
	}
	if ((!whole_node || key.tree) && exec_emit(task, bprm, image))
		account_lose(key.tree, key.cgroup, LOSS_EXECS, 1);
	return 0;
}

/* Ends the process of @task, which exits without an entry, if it is the last thread to exit. */
int process_end_unentered(u64 addr)
{
	struct task_struct *task = (struct task_struct *)addr;
	u64 signal = (u64)BPF_CORE_READ(task, signal), serial = process_serial(task);
	struct process_entry *p = process_find(signal, serial);
	struct account_key account;
	bool ended;

	if (!p || BPF_CORE_READ(task, signal, live.counter))
		return 0;
	process_lock(p);
	ended = p->event.rec.serial == serial && p->event.rec.threads_total &&
		!(p->event.rec.flags & PROCESS_ENDED);
	if (ended)
		p->event.rec.flags |= PROCESS_ENDED | PROCESS_END_UNSEEN;
	account = p->event.rec.account;
	process_unlock(p);
	if (ended)
		account_end_process(account.tree, account.cgroup, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(follow__exit, struct task_struct *task)
{
	u64 addr = bpf_get_current_task();

	if (event_is_missed())
		return 0;
	dying_commit();
	if (!task_find_or_adopt(addr)) {
		if (nr_refused)
			process_end_unentered(addr);
		return 0;
	}
	task_note_exit(addr, true);
	return dying_add(addr);
}

/*
 * Commits the final counters and closes the entry. Not inlined: adoption by a hook makes deep call
 * chains.
 */
static __noinline int commit_final(struct task_struct *task, u64 addr, struct task_entry *t,
				   struct process_entry *p)
{
	struct task_counters now = {};

#define TASK_METRIC(base, group, kind, unit, field, help)                                          \
	if (COUNTER_IS_READ(base, field))                                                          \
		now.base = task->field;
#define DELAY_METRIC(base, group, kind, unit, field, help)
#include "bpfmon/metrics.def"
	delays_read(task, &now);
	now.utime = task->utime;
	now.stime = task->stime;
	if (want_calls)
		calls_commit(addr, t, p);
	return task_commit_counters(addr, t, p, &now, COMMIT_CLOSES);
}

/*
 * Returns true if a thread of @task's process lives or is a zombie. The free event of its last
 * thread comes after the kernel has released all of them.
 */
static __always_inline bool threads_are_left(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, nr_threads);
}

/*
 * Handles a freed task that was the last one with an entry in its process @p. A thread that was
 * missed or had no room and is not freed yet is adopted later, or closes the process when it is
 * freed.
 */
static __always_inline void process_close_last_entry(struct task_struct *task, u64 signal,
						     u64 serial, struct process_entry *p)
{
	if (by_cgroup) /* its other threads may have been moved out */
		process_close(signal, serial, PROCESS_LEFT, 0);
	else if (!(p->event.rec.flags & PROCESS_ENDED) || threads_are_left(task) ||
		 (misses_seen && BPF_CORE_READ(task, signal, sigcnt.refs.counter) > 1))
		entries_lack = true;
	else if (process_begin_closing(p, serial, 0))
		process_emit_and_delete(signal, p);
}

/* Does the same for a freed task without an entry. */
static __always_inline void process_close_unentered(struct task_struct *task)
{
	u64 signal = (u64)BPF_CORE_READ(task, signal), serial = process_serial(task);
	struct process_entry *p = process_find(signal, serial);

	/* without a thread so far, another CPU is about to add one */
	if (p && p->event.rec.threads_total && !threads_are_left(task))
		process_close(signal, serial, PROCESS_ENDED | PROCESS_END_UNSEEN, 0);
}

/* The last event of a task: commits it and closes its entry. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(follow__free, struct task_struct *task)
{
	u64 addr = as_number(task);
	struct process_entry *p;
	struct account_key account;
	struct task_entry *t;
	u64 signal, serial;
	int result;

	if (miss_is_drawn(inject_free_misses))
		return 0;
	/*
	 * A task that is first met during the attach has used nothing since. The process of one
	 * that had no room may have its record already.
	 */
	t = (can_seed && seeding) || task_is_refused(addr) ? task_find(addr)
							   : task_find_or_adopt(addr);
	if (!t && entries_lack)
		process_close_unentered(task);
	task_refused_forget(addr, false);
	if (!t)
		return 0;
	signal = t->process;
	serial = t->serial;
	account = t->account;
	p = process_find(signal, serial);
	/* the last task to exit may have had no entry */
	if (p && (!t->exited || !(p->event.rec.flags & PROCESS_ENDED)))
		task_note_exit(addr, false);
	result = commit_final(task, addr, t, p);
	if (result == COMMIT_GONE)
		account_lose(account.tree, account.cgroup, LOSS_STALE, 1);
	task_forget(addr);
	if (result == COMMIT_LAST && p)
		process_close_last_entry(task, signal, serial, p);
	return 0;
}

static __always_inline bool task_is_root(u64 task)
{
	u32 pid = nr_root_pids ? pid_here(task) : 0;

	for (u32 i = 0; i < (can_seed ? MAX_TARGETS : 1) && i < nr_root_pids; i++)
		if (root_pids[i] == pid)
			return true;
	return false;
}

/*
 * Adds a root, whose usage so far does not count. Only the collector calls this, for one task at a
 * time.
 */
static __always_inline void root_add(struct task_struct *task, u64 addr)
{
	if (!seeding)
		counters_read(task, &launched_used);
	task_add(addr, root_account.tree, root_account.cgroup, 0,
		 PROCESS_ROOT | (seeding ? PROCESS_SEEDED : PROCESS_LAUNCHED));
}

/* Finds the roots, and tasks that no hook has seen. May be repeated. */
SEC("iter/task")
int follow__adopt(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	u64 addr;

#define TASK_METRIC(base, group, kind, unit, field, help)                                          \
	if (bpf_core_field_exists(((struct task_struct *)0)->field))                               \
		task_fields |= 1ULL << TC_##base;
#define DELAY_METRIC(base, group, kind, unit, field, help)                                         \
	if (DELAY_IS_KEPT(field))                                                                  \
		task_fields |= 1ULL << TC_##base;
#include "bpfmon/metrics.def"
	if (!bpf_core_field_exists(((struct rq___irq *)0)->prev_irq_time))
		task_fields &= ~(1ULL << TC_irq_delay);
	if (!task)
		return 0;
	if (!pid_namespace) {
		pid_namespace_learn();
		clocks_learn();
	}
	addr = as_number(task);
	/* a task without sighand is released: its free hook may have run already */
	if (!BPF_CORE_READ(task, sighand) || task_find(addr))
		return 0;
	if (by_cgroup && seeding && !target_level)
		cgroup_find_level(addr);
	if (whole_node && seeding)
		task_add(addr, 0, cgroup_of(addr), 0, PROCESS_ROOT | PROCESS_SEEDED);
	else if (by_cgroup ? seeding && cgroup_has(addr) && !task_is_own(addr) : task_is_root(addr))
		root_add(task, addr);
	else if (!task_adopt(addr))
		return 0;
	if (can_seed && seeding &&
	    BPF_CORE_READ(task, exit_state)) /* a zombie: its exit event has passed */
		task_note_exit(addr, false);
	return 0;
}
