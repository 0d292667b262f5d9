// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Accounts on kernels where tracing programs cannot take a lock (5.10). A task is then committed
 * once, by its free hook; what the live ones have used is pending: summed anew by each drain, and
 * added by the collector to what was committed before that drain began.
 */
#include "bpfmon.bpf.h"

const volatile bool has_lock;

struct account pending; /* of all accounts; zeroed before each drain */

/* Processes whose end has been counted: an insertion succeeds for one caller only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192); /* set before loading */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, u32);
} ended SEC(".maps");

__hidden bool end_is_first(u64 signal)
{
	u32 one = 1;

	return !bpf_map_update_elem(&ended, &signal, &one, BPF_NOEXIST);
}

__hidden void end_forget(u64 signal)
{
	bpf_map_delete_elem(&ended, &signal);
}

/* The split is that of this task alone; no part of it is less than was told when it was pending. */
static __always_inline u64 split_task(struct task_entry *t, struct task_counters *now)
{
	return system_part(now->cpu, now->utime, now->stime, t->user, t->system);
}

static __always_inline void account_add(struct account *a, struct task_counters *now, u64 system)
{
#define TASK_METRIC(base, ...)                                                                     \
	if (now->base)                                                                             \
		add(a->base, now->base);
#include "bpfmon/metrics.def"
	add(a->system, system);
	add(a->user, now->cpu - system);
}

__hidden int commit_unlocked(u64 task, struct task_entry *t, struct process_entry *p,
			     struct task_counters *now, bool closing)
{
	struct process_record *r = &p->event.rec;
	struct account_key key = r->account;
	struct account *a;
	u64 system;

	if (t->task != task || r->serial != t->serial)
		return COMMIT_GONE;
#define TASK_METRIC(base, ...)                                                                     \
	now->base = advance(&t->last.base, now->base);                                             \
	add(r->counters.base, now->base);
#include "bpfmon/metrics.def"
	now->utime = advance(&t->last.utime, now->utime);
	now->stime = advance(&t->last.stime, now->stime);
	system = split_task(t, now);
	t->user = t->system = 0;
	add(r->system, system);
	add(r->user, now->cpu - system);
	a = account_get(&key);
	if (a)
		account_add(a, now, system);
	if (!closing)
		return COMMIT_DONE;
	t->task = 0;
	add(p->tasks, -1);
	return p->tasks ? COMMIT_DONE : COMMIT_LAST;
}

__hidden void task_pend(u64 addr, struct task_entry *t)
{
	struct task_struct *task = (struct task_struct *)addr;
	struct task_counters now = {};

	counters_read(task, &now);
	/* whose memory it is was last asked after it had been read */
	if (!task_is(addr, t))
		return;
#define TASK_METRIC(base, ...) now.base = now.base > t->last.base ? now.base - t->last.base : 0;
#include "bpfmon/metrics.def"
	now.utime = now.utime > t->last.utime ? now.utime - t->last.utime : 0;
	now.stime = now.stime > t->last.stime ? now.stime - t->last.stime : 0;
	t->system = split_task(t, &now);
	t->user = now.cpu - t->system;
	account_add(&pending, &now, t->system);
}
