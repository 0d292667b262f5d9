// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The tasks that are followed, their processes, and the state that all programs share: the lowest
 * rung of the ladder that the files of this folder form.
 */
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

/*
 * Of tasks that have moved something by calls; with want_calls. A call on a socket takes a
 * microsecond, so that a look-up in a hash would be felt: each task has a slot of an array, and
 * only if that is taken a place in the hash.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* CALL_SLOTS, set before loading */
	__type(key, u32);
	__type(value, struct call_entry);
} call_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct call_entry);
} call_tasks SEC(".maps");

static const struct process_entry no_process;
static const struct call_entry no_calls;

const volatile __u64 wanted;
const volatile bool can_seed;
const volatile bool want_calls;

struct tracking tracking;
bool misses_seen;
bool seeding;
__u64 seeded_at_ns; /* CLOCK_MONOTONIC, the collector's: tasks born before it have been found, or
		       are not followed */
struct account_key root_account;
struct pass drain_pass;

__hidden struct task_entry *task_find(u64 task)
{
	return bpf_map_lookup_elem(&tasks, &task);
}

__hidden long tasks_each(long (*visit)(struct bpf_map *map, u64 *key, struct task_entry *t,
				       void *context))
{
	return bpf_for_each_map_elem(&tasks, visit, NULL, 0);
}

__hidden long processes_each(long (*visit)(struct bpf_map *map, u64 *key, struct process_entry *p,
					   void *context))
{
	return bpf_for_each_map_elem(&processes, visit, NULL, 0);
}

__hidden long task_put(const struct task_entry *t)
{
	return bpf_map_update_elem(&tasks, &t->task, t, BPF_NOEXIST);
}

/* The slot is @task's: for certain from the moment at which it is claimed. */
static __always_inline struct call_entry *call_slot(u64 task)
{
	u32 at = (task >> 6) * 0x9e3779b97f4a7c15ULL >> 32 & (CALL_SLOTS - 1);

	return bpf_map_lookup_elem(&call_slots, &at);
}

__hidden struct call_entry *calls_find(u64 task)
{
	struct call_entry *n = call_slot(task);

	if (n && n->task == task)
		return n;
	return bpf_map_lookup_elem(&call_tasks, &task);
}

__hidden struct call_entry *calls_make(u64 task)
{
	struct call_entry *n = call_slot(task);

	if (n && !__sync_val_compare_and_swap(&n->task, 0, task))
		return n;
	bpf_map_update_elem(&call_tasks, &task, &no_calls, BPF_NOEXIST);
	return bpf_map_lookup_elem(&call_tasks, &task);
}

/* The task has been committed for the last time. Its slot is given up when it is empty again. */
static __always_inline void calls_forget(u64 task)
{
	struct call_entry *n = call_slot(task);

	if (!n || n->task != task) {
		bpf_map_delete_elem(&call_tasks, &task);
		return;
	}
	n->now = (struct call_counters){};
	n->done = (struct call_counters){};
	__sync_val_compare_and_swap(&n->task, task, 0);
}

__hidden void task_forget(u64 task)
{
	struct task_entry *t = task_find(task);
	u64 mark = t ? __sync_lock_test_and_set(&t->met, MET_AND_REMOVED) : 0;
	u64 left = mark >> 1 == drain_pass.number ? 1 + met_one(mark) : 1;

	if (t && mark != MET_AND_REMOVED) /* counted once, also if another CPU is here, too */
		add(tracking.tasks, -left);
	if (want_calls)
		calls_forget(task);
	bpf_map_delete_elem(&tasks, &task);
}

__hidden struct process_entry *process_find(u64 signal)
{
	return bpf_map_lookup_elem(&processes, &signal);
}

__hidden long process_put(u64 signal)
{
	return bpf_map_update_elem(&processes, &signal, &no_process, BPF_NOEXIST);
}

__hidden long process_forget(u64 signal)
{
	return bpf_map_delete_elem(&processes, &signal);
}

/*
 * @t may be the entry of an earlier task at the same address, of which the free event was missed. A
 * thread that execs takes over the start time of its leader: its process decides then.
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
