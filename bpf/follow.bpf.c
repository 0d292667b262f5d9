// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Follows tasks from birth to release. A hook may miss an event (tracepoint programs can be
 * preempted from 7.0 on): each of them, and the pass over all tasks, adopts what an earlier one
 * should have known. Counters are absolute since birth, so adopting late loses nothing.
 */
#include "bpfmon.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u64 wanted;
const volatile __u32 inject_misses;

/* The process that the next pass over all tasks makes the root of @root_account. */
__u32 root_pid;
struct account_key root_account;
__u64 task_fields; /* bit per enum task_counter: this kernel's tasks have the field */

static __always_inline bool is_missed(void)
{
	return inject_misses && bpf_get_prandom_u32() % 1000 < inject_misses;
}

/* The entry of @task, adopted now if its birth was missed; NULL when it is not ours. */
static __always_inline struct task_entry *followed(struct task_struct *task)
{
	struct task_entry *t = task_find((u64)task);
	struct account_key account;
	u64 image = 0;

	if (t || !task_is_ours(task, &account, &image))
		return t;
	if (!task_add(task, &account, image, PROCESS_LATE))
		add(tracking.adopted_late, 1);
	return task_find((u64)task);
}

static __always_inline void born(struct task_struct *creator, struct task_struct *child)
{
	struct task_entry *t = followed(creator);
	struct account_key account;
	struct process_entry *p;
	u64 image;

	if (!t)
		return;
	p = process_find(t->process);
	if (!p)
		return;
	account = p->event.rec.account;
	image = p->event.rec.image;
	task_add(child, &account, image, 0);
}

/* Sees io_uring workers too; membership comes from the creator, whatever the parent is. */
SEC("tp_btf/task_newtask")
int BPF_PROG(follow__newtask, struct task_struct *child, u64 flags)
{
	if (!is_missed())
		born((struct task_struct *)bpf_get_current_task(), child);
	return 0;
}

/* A second pair of eyes for what task_newtask misses. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow__fork, struct task_struct *creator, struct task_struct *child)
{
	if (!task_find((u64)child) && !is_missed())
		born(creator, child);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(follow__exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct task_entry *t = is_missed() ? NULL : followed(task);
	struct process_entry *p = t ? process_find(t->process) : NULL;
	u64 image = serial_new();
	struct process_record *r;
	struct account_key key;

	if (!p)
		return 0;
	r = &p->event.rec;
	key = r->account;
	account_add_execs(&key, 1);
	r->execs++;
	r->image = image;
	r->flags &= ~PROCESS_IMAGE_UNKNOWN;
	r->uid = task_uid(task);
	p->exec_id = task->self_exec_id;
	p->maxrss_at_exec = BPF_CORE_READ(task, signal, maxrss);
	BPF_CORE_READ_INTO(&r->comm, task, comm);
	exec_emit(task, bprm, image);
	return 0;
}

/* execs that the hook did not see; then which program runs is not known either */
static __always_inline void execs_catch_up(struct task_struct *task, struct process_entry *p)
{
	u32 seen = p->exec_id, now = task->self_exec_id;
	struct account_key key = p->event.rec.account;

	if (now == seen || p->event.rec.flags & PROCESS_LATE)
		return;
	p->exec_id = now;
	p->event.rec.execs += now - seen;
	p->event.rec.image = 0;
	p->event.rec.flags |= PROCESS_IMAGE_UNKNOWN;
	add(tracking.images_unseen, now - seen);
	account_add_execs(&key, now - seen);
}

static __always_inline u32 wait_status(struct task_struct *task, struct signal_struct *sig)
{
	if (BPF_CORE_READ(sig, flags) & 4 /* SIGNAL_GROUP_EXIT */)
		return BPF_CORE_READ(sig, group_exit_code);
	if (task->pid == task->tgid)
		return task->exit_code;
	return BPF_CORE_READ(task, group_leader, exit_code);
}

/* @task has exited; once for each, and once for a process. @seen: this is the exit itself. */
static __always_inline void ended(struct task_struct *task, struct task_entry *t,
				  struct process_entry *p, bool seen)
{
	struct signal_struct *sig = BPF_CORE_READ(task, signal);
	bool group = BPF_CORE_READ(sig, live.counter) == 0;
	bool first, ended_process = false;
	u64 now = bpf_ktime_get_boot_ns();
	u32 status = wait_status(task, sig);
	struct account_key key;

	bpf_spin_lock(&p->lock);
	first = !t->exited;
	t->exited = 1;
	if (group && !(p->event.rec.flags & PROCESS_ENDED)) {
		ended_process = true;
		p->event.rec.flags |= PROCESS_ENDED;
		p->event.rec.wait_status = status;
		if (seen)
			p->event.rec.end_boot_ns = now;
		else
			p->event.rec.flags |= PROCESS_END_UNSEEN;
	}
	key = p->event.rec.account;
	bpf_spin_unlock(&p->lock);

	if (first)
		account_end_task(&key, ended_process);
	if (first && !seen)
		add(tracking.ends_unseen, 1);
	if (!ended_process)
		return;
	p->event.rec.uid = task_uid(task);
	BPF_CORE_READ_INTO(&p->event.rec.comm, task, group_leader, comm);
	execs_catch_up(task, p);
	peak_at_exit(task, p);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(follow__exit, struct task_struct *task)
{
	struct task_entry *t = is_missed() ? NULL : followed(task);
	struct process_entry *p = t ? process_find(t->process) : NULL;

	if (p)
		ended(task, t, p, true);
	return 0;
}

/* The counters are final here: the books of a task are closed. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(follow__free, struct task_struct *task)
{
	struct task_entry *t = followed(task);
	struct task_counters now = {};
	struct process_entry *p;
	u64 signal;
	int result;

	if (!t)
		return 0;
	signal = t->process;
	p = process_find(signal);
	if (p && !t->exited)
		ended(task, t, p, false);
#define TASK_METRIC(base, group, kind, unit, field, help)                                          \
	if (COUNTER_IS_READ(base, field))                                                          \
		now.base = DIRECT(task, field);
#include "bpfmon/metrics.def"
	now.utime = task->utime;
	now.stime = task->stime;
	result = commit((u64)task, t, p, &now, true);
	if (result == COMMIT_GONE)
		add(tracking.loss[LOSS_STALE], 1);
	task_forget((u64)task);
	/* a thread that was never seen may be unfreed still: the last look at the maps ends it */
	if (result != COMMIT_LAST || !p ||
	    (misses_seen && BPF_CORE_READ(task, signal, sigcnt.refs.counter) > 1))
		return 0;
	process_emit(p);
	process_forget(signal);
	return 0;
}

/* Finds the root, and whatever no event told of. Harmless to repeat. */
SEC("iter/task")
int follow__adopt(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct account_key account;
	u64 image = 0;

#define TASK_METRIC(base, group, kind, unit, field, help)                                          \
	if (bpf_core_field_exists(((struct task_struct *)0)->field))                               \
		task_fields |= 1ULL << TC_##base;
#include "bpfmon/metrics.def"
	if (!task || task_find((u64)task))
		return 0;
	if ((u32)task->tgid == root_pid) {
		account = root_account;
		task_add(task, &account, 0, PROCESS_ROOT);
		return 0;
	}
	if (task_is_ours(task, &account, &image) &&
	    !task_add(task, &account, image, PROCESS_LATE))
		add(tracking.adopted_late, 1);
	return 0;
}
