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

static const struct process_entry no_process;

const volatile __u64 wanted;
const volatile bool can_seed;

struct tracking tracking;
bool misses_seen;
bool seeding;
__u64 seeded_at_ns; /* CLOCK_MONOTONIC, the collector's: tasks born before it have been found, or
		       are not followed */
struct account_key root_account;

__hidden struct task_entry *task_find(u64 task)
{
	return bpf_map_lookup_elem(&tasks, &task);
}

__hidden long task_put(const struct task_entry *t)
{
	return bpf_map_update_elem(&tasks, &t->task, t, BPF_NOEXIST);
}

__hidden void task_forget(u64 task)
{
	if (bpf_map_delete_elem(&tasks, &task))
		return;
	add(tracking.entries, -1);
	add(tracking.removed, 1);
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
