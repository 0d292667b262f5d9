// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Accounts: their totals are exact at every moment, wherever commits come from and how often. */
#include "books.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_ACCOUNTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct account_key);
	__type(value, struct account);
} accounts SEC(".maps");

static const struct account nothing_used;

static __always_inline struct account *account_find(u64 tree, u64 cgroup)
{
	struct account_key key = { tree, cgroup };

	return bpf_map_lookup_elem(&accounts, &key);
}

/* If called concurrently, only one caller makes the account. */
int account_begin(u64 tree, u64 cgroup)
{
	struct account_key key = { tree, cgroup };

	if (!bpf_map_update_elem(&accounts, &key, &nothing_used, BPF_NOEXIST) && whole_node)
		account_emit(tree, cgroup, EVENT_BEGUN);
	return 0;
}

/* Returns the account; the first caller makes it. Returns NULL if there is no room. */
static __always_inline struct account *account_get(u64 tree, u64 cgroup)
{
	struct account_key key = { tree, cgroup };
	struct account *a = bpf_map_lookup_elem(&accounts, &key);

	if (a)
		return a;
	account_begin(tree, cgroup);
	a = bpf_map_lookup_elem(&accounts, &key);
	if (!a)
		add(tracking.loss[LOSS_ACCOUNTS], 1);
	return a;
}

__hidden struct account *account_open(u64 tree, u64 cgroup)
{
	return account_get(tree, cgroup);
}

int account_make(u64 tree, u64 cgroup)
{
	return account_get(tree, cgroup) ? 0 : -ENOSPC;
}

/* Number of closed accounts: mostly 0, which saves the look-up. */
__u64 nr_closed;

int account_close(u64 tree, u64 cgroup, u64 heir)
{
	struct account *a = account_find(tree, cgroup);

	if (!a || a->closed)
		return 0;
	a->closed = ACCOUNT_CLOSED | heir;
	add(nr_closed, 1);
	return 0;
}

u64 account_heir(u64 tree, u64 cgroup)
{
	struct account *a = nr_closed ? account_find(tree, cgroup) : NULL;

	return a && a->closed ? a->closed & ~ACCOUNT_CLOSED : tree;
}

int account_lose(u64 tree, u64 cgroup, u32 loss, s32 n)
{
	struct account *a = account_find(tree, cgroup);

	loss &= NR_LOSSES - 1;
	add(tracking.loss[loss], n);
	if (a)
		add(a->loss[loss], n);
	return 0;
}

/*
 * Returns the increases of a process's user and system time. Splits as the kernel's
 * cputime_adjust(): the parts add up to the exact total and never fall.
 */
static __always_inline void split_cpu(struct process_record *r, u64 *user, u64 *system)
{
	u64 cpu = r->counters.cpu;
	u64 sys = system_part(cpu, r->counters.utime, r->counters.stime, r->user, r->system);

	*user = counter_advance(&r->user, cpu - sys);
	*system = counter_advance(&r->system, sys);
}

/* Adds the increases @now to the account. */
static __always_inline void account_add_counters(struct account *a, const struct task_counters *now,
						 u64 user, u64 system)
{
	/* first: a reader that sees the counters must also see that they are unreliable */
	if (now->without_delays)
		add(a->without_delays, now->without_delays);
	if (now->blkio_wrong)
		add(a->blkio_wrong, now->blkio_wrong);
#define TASK_METRIC(base, ...)                                                                     \
	if (now->base)                                                                             \
		add(a->base, now->base);
#include "bpfmon/metrics.def"
	if (user)
		add(a->user, user);
	if (system)
		add(a->system, system);
}

/* Returns 1 if the flag @now is set for the first time, and remembers it in @last. */
static __always_inline u32 flag_advance(u32 *last, u32 now)
{
	u32 is_new = now & ~*last;

	*last |= now;
	return is_new;
}

/*
 * Adds the increase of a task's counters, now at @now, to its process and account. Checks the entry
 * under the lock: while the entry is open the free hook has not run, so the counters came from a
 * live task_struct. Leaves the increases in @now.
 */
__hidden int task_commit_counters(u64 task, struct task_entry *t, struct process_entry *p,
				  struct task_counters *now, u32 how)
{
	struct account_key key;
	u64 user, system;
	struct account *a;
	bool last = false;

	if (!t || !p)
		return COMMIT_GONE;
	key = p->event.rec.account; /* may change until the lock is held */
	a = bpf_map_lookup_elem(&accounts, &key);

	process_lock(p);
	if (t->task != task || p->event.rec.serial != t->serial) {
		process_unlock(p);
		return COMMIT_GONE;
	}
	/* from here on @now holds the increases */
#define TASK_METRIC(base, ...)                                                                     \
	now->base = counter_advance(&t->last.base, now->base);                                     \
	p->event.rec.counters.base += now->base;
#include "bpfmon/metrics.def"
	p->event.rec.counters.utime += counter_advance(&t->last.utime, now->utime);
	p->event.rec.counters.stime += counter_advance(&t->last.stime, now->stime);
	now->without_delays = flag_advance(&t->last.without_delays, now->without_delays);
	if (now->without_delays)
		p->event.rec.flags |= PROCESS_WITHOUT_DELAYS;
	now->blkio_wrong = flag_advance(&t->last.blkio_wrong, now->blkio_wrong);
	p->event.rec.flags |= now->blkio_wrong * PROCESS_BLKIO_WRONG;
	split_cpu(&p->event.rec, &user, &system);
	if (p->event.rec.account.tree != key.tree || p->event.rec.account.cgroup != key.cgroup)
		a = NULL;
	key = p->event.rec.account;
	t->account = key;
	if (how & COMMIT_FINAL && !t->final) {
		t->final = 1;
		p->final_tasks++;
	}
	if (how & COMMIT_CLOSES) {
		t->task = 0;
		p->tasks--;
		p->final_tasks -= t->final;
		last = !p->tasks;
	}
	/*
	 * Within the lock: else, if this hook is preempted here, the record could be sent before
	 * the account has everything.
	 */
	if (a)
		account_add_counters(a, now, user, system);
	process_unlock(p);

	if (!a) {
		a = account_get(key.tree, key.cgroup);
		if (a)
			account_add_counters(a, now, user, system);
	}
	return last ? COMMIT_LAST : COMMIT_DONE;
}

int account_add_task(u64 tree, u64 cgroup, u32 is_process, u32 is_root)
{
	struct account *a = account_get(tree, cgroup);

	if (!a)
		return 0;
	add(a->threads, 1);
	if (!is_process) {
		if (!is_root)
			add(a->threads_created, 1);
		return 0;
	}
	add(a->processes, 1);
	if (!is_root) {
		add(a->forks, 1);
		return 0;
	}
	add(a->roots, 1);
	if (a->processes == 1 && !whole_node)
		account_emit(tree, cgroup, EVENT_BEGUN);
	return 0;
}

/* Two CPUs may both find that their process was the last one and report it twice. */
static __always_inline void process_remove(struct account *a, u64 tree, u64 cgroup)
{
	add(a->processes, -1);
	if (!a->processes && (!whole_node || tree))
		account_emit(tree, cgroup, EVENT_EMPTY);
}

int account_end_task(u64 tree, u64 cgroup, u32 ended_process)
{
	struct account *a = account_get(tree, cgroup);

	if (!a)
		return 0;
	add(a->threads, -1);
	if (ended_process) {
		add(a->exits, 1);
		process_remove(a, tree, cgroup);
	}
	return 0;
}

int account_end_process(u64 tree, u64 cgroup, u32 threads)
{
	struct account *a = account_get(tree, cgroup);

	if (!a)
		return 0;
	add(a->threads, -(s64)threads);
	add(a->exits, 1);
	process_remove(a, tree, cgroup);
	return 0;
}

int account_move_in(u64 tree, u64 cgroup, u32 threads, u32 flags)
{
	struct account *a = account_get(tree, cgroup);

	if (!a)
		return 0;
	if (flags & PROCESS_ROOT)
		add(a->roots, 1);
	else
		add(a->moved_in, 1);
	if (flags & PROCESS_WITHOUT_DELAYS)
		add(a->without_delays, 1);
	if (flags & PROCESS_BLKIO_WRONG)
		add(a->blkio_wrong, 1);
	add(a->processes, 1);
	add(a->threads, threads);
	return 0;
}

int account_move_out(u64 tree, u64 cgroup, u32 threads)
{
	struct account *a = account_get(tree, cgroup);

	if (!a)
		return 0;
	add(a->moved_out, 1);
	add(a->threads, -(s64)threads);
	process_remove(a, tree, cgroup);
	return 0;
}

int account_leave_process(u64 tree, u64 cgroup)
{
	struct account *a = account_get(tree, cgroup);

	if (!a)
		return 0;
	add(a->processes, -1);
	add(a->left, 1);
	return 0;
}

int account_add_execs(u64 tree, u64 cgroup, u64 n)
{
	struct account *a = account_get(tree, cgroup);

	if (a)
		add(a->execs, n);
	return 0;
}

/*
 * Lifetimes: how long threads have existed. A process and its account grow under one lock, as a
 * hook may be interrupted anywhere while the collector reads both.
 */

/*
 * Returns the lifetime of the live threads since the last call and advances p->lived_ns to @now.
 * The caller holds the lock.
 */
static __always_inline u64 lifetime_growth(struct process_entry *p, u64 now, u32 how)
{
	u64 grown = p->lived_before;
	/* -1 if the task exits before the hook that adds its entry has counted it */
	s64 threads = (s32)p->alive_tasks;

	p->lived_before = 0;
	if (how == LIFETIME_OF_LAST) /* the last thread is no longer counted as live */
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

	/* another hook still fills it in: it has no account yet */
	if (!p || !p->event.rec.signal)
		return 0;
	err = process_lock_account(p, &key, &a);
	/* the next commit may add this to another account or a different number of threads */
	if (err == -EAGAIN)
		account_lose(key.tree, key.cgroup, LOSS_ACCOUNTS, 1);
	if (err)
		return 0;
	grown = lifetime_growth(p, now, how);
	p->event.rec.lifetime += grown;
	add(a->lifetime, grown);
	process_unlock(p);
	return 0;
}

/* What processes had used before the attach: reported separately, part of no account. */
struct task_counters baseline;
bool baseline_lacks_io; /* the I/O of ended threads is unknown */

__hidden void baseline_add(const struct task_counters *used)
{
/*
 * The condition is needed: a field that is not read is the constant 0, of which clang makes an
 * atomic "or", which the BPF backend lacks.
 */
#define TASK_METRIC(base, ...)                                                                     \
	if (used->base)                                                                            \
		add(baseline.base, used->base);
#include "bpfmon/metrics.def"
	add(baseline.utime, used->utime);
	add(baseline.stime, used->stime);
}

static __always_inline bool signal_has_reaped(struct signal_struct *sig)
{
	return BPF_CORE_READ(sig, cmin_flt) || BPF_CORE_READ(sig, cnvcsw);
}

/*
 * Adds the usage of the ended threads of a process. The kernel sums that up, except how long they
 * waited. Its sum of I/O includes that of reaped children, which is not the process's own: if there
 * were both, the parts cannot be separated.
 */
__hidden void baseline_add_ended(struct signal_struct *sig)
{
	struct task_counters used = {
		.cpu = BPF_CORE_READ(sig, sum_sched_runtime),
		.utime = BPF_CORE_READ(sig, utime),
		.stime = BPF_CORE_READ(sig, stime),
		.minflt = BPF_CORE_READ(sig, min_flt),
		.majflt = BPF_CORE_READ(sig, maj_flt),
		.nvcsw = BPF_CORE_READ(sig, nvcsw),
		.nivcsw = BPF_CORE_READ(sig, nivcsw),
	};

	if (signal_has_reaped(sig)) {
		if (used.cpu)
			baseline_lacks_io = true;
		baseline_add(&used);
		return;
	}
	if (bpf_core_field_exists(sig->ioac.rchar)) {
		used.rchar = BPF_CORE_READ(sig, ioac.rchar);
		used.wchar = BPF_CORE_READ(sig, ioac.wchar);
		used.syscr = BPF_CORE_READ(sig, ioac.syscr);
		used.syscw = BPF_CORE_READ(sig, ioac.syscw);
	}
	if (bpf_core_field_exists(sig->ioac.read_bytes)) {
		used.read = BPF_CORE_READ(sig, ioac.read_bytes);
		used.write = BPF_CORE_READ(sig, ioac.write_bytes);
		used.cancelled_write = BPF_CORE_READ(sig, ioac.cancelled_write_bytes);
	}
	baseline_add(&used);
}
