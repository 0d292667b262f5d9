// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The end of a task: its exit, and the moment from which its counters are final. */
#include "tasks.bpf.h"
#include "delays.bpf.h"

#define TASK_DEAD 0x80
#define SIGKILL 9
#define SIGSEGV 11

bool drain_all; /* read every task, even if it seems not to have run */

/* The field is named "state" up to 5.13. */
struct task_struct___5_13 {
	long state;
} __attribute__((preserve_access_index));

/* How long a task has been waiting for a CPU in a wait that is not over. */

struct rq___clock {
	u64 clock;
} __attribute__((preserve_access_index));

/*
 * Exists with CONFIG_FAIR_GROUP_SCHED; for tasks of any class it leads to the run queue of the CPU.
 */
struct cfs_rq___rq {
	struct rq___clock *rq;
} __attribute__((preserve_access_index));

struct sched_entity___queue {
	struct cfs_rq___rq *cfs_rq;
} __attribute__((preserve_access_index));

struct sched_info___queue {
	/* start of the wait by the clock of that run queue; 0 if the task does not wait */
	unsigned long long last_queued;
} __attribute__((preserve_access_index));

struct task_struct___queue {
	struct sched_entity___queue se;
	struct sched_info___queue sched_info;
} __attribute__((preserve_access_index));

#define WAIT_IS_READ()                                                                             \
	((wanted & (1ULL << TC_runqueue_wait)) &&                                                  \
	 bpf_core_field_exists(((struct cfs_rq___rq *)0)->rq) &&                                   \
	 bpf_core_field_exists(((struct sched_entity___queue *)0)->cfs_rq) &&                      \
	 bpf_core_field_exists(((struct sched_info___queue *)0)->last_queued))

/* Returns true if @task is waiting for a CPU and that time is read. */
static __always_inline bool task_waits(struct task_struct *task)
{
	return WAIT_IS_READ() &&
	       BPF_CORE_READ((struct task_struct___queue *)task, sched_info.last_queued);
}

/*
 * Returns how long @task has been waiting for a CPU. The kernel adds that to run_delay, by the same
 * clock, when the wait ends. To be read after run_delay: a wait that ends in between is then in
 * neither and comes with the next commit. Returns 0 if the wait has changed while the clock was
 * read. Branch-free, see is_set().
 */
static __always_inline u64 wait_so_far(struct task_struct *task)
{
	struct task_struct___queue *t = (void *)task;
	u64 since, now, again;

	if (!WAIT_IS_READ())
		return 0;
	since = BPF_CORE_READ(t, sched_info.last_queued);
	now = BPF_CORE_READ(t, se.cfs_rq, rq, clock);
	again = BPF_CORE_READ(t, sched_info.last_queued);
	return (now - since) * (is_set(since) & is_zero(since ^ again) & ~((now - since) >> 63));
}

/* @task may become stale during the reads, which the commit detects. */
__hidden void counters_read(struct task_struct *task, struct task_counters *now)
{
#define TASK_METRIC(base, group, kind, unit, field, help)                                          \
	if (COUNTER_IS_READ(base, field))                                                          \
		now->base = BPF_CORE_READ(task, field);
#define DELAY_METRIC(base, group, kind, unit, field, help)
#include "bpfmon/metrics.def"
	now->runqueue_wait += wait_so_far(task);
	delays_read(task, now);
	now->utime = BPF_CORE_READ(task, utime);
	now->stime = BPF_CORE_READ(task, stime);
}

/*
 * Returns true if the kernel keeps no delays for @task and no commit has recorded that yet: it ran
 * before it was tracked.
 */
static __always_inline bool missing_delays_unrecorded(struct task_struct *task,
						      const struct task_entry *t)
{
	return wanted & DELAY_COUNTERS &&
	       bpf_core_field_exists(((struct task_struct___delays *)0)->delays) &&
	       !t->last.without_delays && !delays_of(task);
}

/*
 * Returns true for a task that has neither run nor switched since its last commit and does not wait
 * for a CPU: it has nothing to add, like most tasks at most samples. The runtime of running tasks
 * is updated at the next tick.
 */
static __always_inline bool task_is_unchanged(struct task_struct *task, const struct task_entry *t)
{
	const u64 needed = 1ULL << TC_cpu | 1ULL << TC_nvcsw | 1ULL << TC_nivcsw;

	return !drain_all && (wanted & needed) == needed &&
	       BPF_CORE_READ(task, se.sum_exec_runtime) == t->last.cpu &&
	       BPF_CORE_READ(task, nvcsw) == t->last.nvcsw &&
	       BPF_CORE_READ(task, nivcsw) == t->last.nivcsw && !task_waits(task) &&
	       !missing_delays_unrecorded(task, t);
}

/*
 * Returns 1 if the task is dead and off the CPU: its counters cannot grow any more. Branch-free,
 * see is_set().
 */
static __always_inline u64 task_is_final(struct task_struct *task, const struct task_entry *t)
{
	struct task_struct___5_13 *old = (void *)task;
	u64 state;

	if (bpf_core_field_exists(old->state))
		state = BPF_CORE_READ(old, state);
	else
		state = BPF_CORE_READ(task, __state);
	return (state / TASK_DEAD) & ~(u64)BPF_CORE_READ(task, on_cpu) & t->exited & 1;
}

__hidden bool task_commit(u64 key, struct task_entry *t, struct process_entry *p)
{
	struct task_struct *task = (struct task_struct *)key;
	struct task_counters now = {};
	u64 final;

	if (!t || !p || t->final || (!t->exited && task_is_unchanged(task, t)))
		return false;
	final = task_is_final(task, t);
	counters_read(task, &now);
	/* after the counters were read: the memory may be freed or another task's by then */
	if ((u64)BPF_CORE_READ(task, signal) != t->process ||
	    (BPF_CORE_READ(task, start_time) != t->start_ns &&
	     (u32)BPF_CORE_READ(task, pid) != t->tid) ||
	    task_is_freed(key))
		return false;
	if (want_calls)
		calls_commit(key, t, p);
	task_commit_counters(key, t, p, &now, final * COMMIT_FINAL);
	return true;
}

int task_commit_exited(u64 task)
{
	struct task_entry *t = task_find(task);

	if (!t || !t->exited) /* or a new task at its address */
		return true;
	task_commit(task, t, process_of(t));
	return t->final || task_is_freed(task);
}

/*
 * Returns 1 if the last exec that the kernel counted has failed. It also counts an exec that fails
 * after the old image is gone; that ends the process by a signal before the new image has any code.
 */
static __always_inline u64 exec_has_failed(struct task_struct *task, u32 status)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u64 may_have = is_zero(status ^ SIGKILL) | is_zero((status & 0x7f) ^ SIGSEGV);

	return may_have & (mm ? is_zero(BPF_CORE_READ(mm, start_code)) : is_zero(misses_seen));
}

static __always_inline struct task_struct *leader_step(struct task_struct *task,
						       struct task_struct *leader)
{
	u64 next = (u64)BPF_CORE_READ(leader, group_leader);
	u64 of_next = (u64)BPF_CORE_READ((struct task_struct *)next, signal);

	/* else the next leader is freed and its memory reused */
	return (void *)value_choose(is_set(of_next ^ (u64)BPF_CORE_READ(task, signal)), (u64)leader,
				    next);
}

/*
 * Returns the leader of the process of @task. After an exec by a thread only the previous leader
 * points to the new one: the threads that the exec has ended still point to the previous one.
 */
static __always_inline struct task_struct *leader_of(struct task_struct *task)
{
	return leader_step(task, leader_step(task, task));
}

static __always_inline u32 task_wait_status(struct task_struct *leader, struct signal_struct *sig)
{
	if (BPF_CORE_READ(sig, flags) & 4 /* SIGNAL_GROUP_EXIT */)
		return BPF_CORE_READ(sig, group_exit_code);
	return BPF_CORE_READ(leader, exit_code);
}

/*
 * Returns the signal_struct of @task. Returns NULL, of which every field reads as 0, if it is
 * another process's now: a task whose exit was not seen may be freed, and its signal_struct reused.
 * Then it has threads, and a different PID. (Ended and released processes have no PID, but no
 * threads either.)
 */
static __always_inline struct signal_struct *signal_of(struct task_struct *task, u32 seen)
{
	u64 sig = (u64)BPF_CORE_READ(task, signal);
	u64 others = is_set(signal_tgid(sig) ^ (u32)BPF_CORE_READ(task, tgid));

	if (seen)
		return (void *)sig;
	others &= is_set(BPF_CORE_READ((struct signal_struct *)sig, live.counter));
	return (void *)value_choose(others, 0, sig);
}

static __always_inline void process_note_last_image(struct process_entry *p,
						    struct task_struct *task,
						    struct task_struct *leader)
{
	u32 exec_id = BPF_CORE_READ(leader, self_exec_id);

	p->event.rec.uid = task_uid(task);
	BPF_CORE_READ_INTO(&p->event.rec.comm, leader, comm);
	if (exec_id != p->exec_id)
		exec_id -= exec_has_failed(task, p->event.rec.wait_status);
	execs_catch_up(p, exec_id);
}

int task_note_exit(u64 addr, u32 seen)
{
	struct task_struct *task = (struct task_struct *)addr, *leader;
	struct task_entry *t = task_find(addr);
	struct process_entry *p = process_of(t);
	struct signal_struct *sig;
	u64 group, first, ended, is_reported_anew, now;
	struct account_key key;
	u32 status, flags;

	if (!p || !p->event.rec.signal) /* or still being filled in by another CPU */
		return 0;
	leader = leader_of(task);
	sig = signal_of(task, seen);
	group = is_zero(BPF_CORE_READ(sig, live.counter));
	now = boot_now();
	status = task_wait_status(leader, sig);
	lifetime_commit(t->process, t->serial, bpf_ktime_get_ns(), LIFETIME_OF_LIVE);
	process_lock(p);
	if (t->task != addr || t->serial != p->event.rec.serial) { /* closed, or reused */
		process_unlock(p);
		return 0;
	}
	first = is_zero(t->exited);
	t->exited = 1;
	p->alive_tasks -= first;
	flags = p->event.rec.flags;
	ended = group & is_zero(flags & PROCESS_ENDED);
	/* the leader's status is the reliable one: another thread may no longer find the leader */
	is_reported_anew =
		ended | (group & is_set(flags & PROCESS_END_UNSEEN) & is_zero((u64)leader ^ addr));
	if (ended) {
		p->event.rec.flags = flags | PROCESS_ENDED | is_zero(seen) * PROCESS_END_UNSEEN;
		p->event.rec.end_boot_ns = value_choose(seen, now, p->event.rec.end_boot_ns);
	}
	if (is_reported_anew)
		p->event.rec.wait_status = status;
	key = p->event.rec.account;
	process_unlock(p);

	if (first)
		account_end_task(key.tree, key.cgroup, ended);
	else if (ended)
		account_end_process(key.tree, key.cgroup, 0);
	if (first && !seen)
		add(tracking.ends_unseen, 1);
	/* up to 6.15 this hook runs after exit_mm(): with the last task the memory is freed */
	if (seen && group && !knows_release && !BPF_CORE_READ(task, mm))
		p->event.rec.released_boot_ns = now;
	if (!is_reported_anew)
		return 0;
	process_note_last_image(p, task, leader);
	if (!ended)
		return 0;
	peak_note_exit(task, p);
	p->mark_noted = 1;
	if (want_exact_peak) {
		/* the last change may be smaller than a batch */
		mm_refresh((u64)BPF_CORE_READ(task, mm));
		mm_leave(t->process, t->serial, false);
	}
	return 0;
}
