// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Maps of tasks, processes and call entries, and the state that all programs share.
 *
 * Keys are addresses, which the kernel reuses after a free, and an entry outlives its task if the
 * free event is missed. So no other file looks up by address alone: the functions here return an
 * entry only together with a further check that it is the right one.
 */
#include "books.bpf.h"

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
 * Call entries of tasks that have moved something, with want_calls. A socket call takes a
 * microsecond, so a hash look-up would cost measurably: each task has a slot of this array, and
 * uses the hash only if the slot is taken.
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
/* The collector's CLOCK_MONOTONIC: tasks born before have been found or are not tracked. */
__u64 seeded_at_ns;
struct account_key root_account;
struct pass drain_pass;

static __always_inline struct task_entry *task_entry_at(u64 task)
{
	return bpf_map_lookup_elem(&tasks, &task);
}

static __always_inline struct process_entry *process_entry_at(u64 signal)
{
	return bpf_map_lookup_elem(&processes, &signal);
}

/*
 * Returns true if the task at @addr, whose start time differs from that in the entry at its
 * address, is a thread that has executed a program: it has taken over the start time of its leader,
 * and then its PID. It must be of the process @serial, that of the entry, as a new process may
 * reuse all addresses of an earlier one. Verified once, as it takes only numbers.
 */
int task_leads_by_exec(u64 addr, u64 serial, u32 tid)
{
	struct task_struct *task = (struct task_struct *)addr;
	u32 pid = BPF_CORE_READ(task, pid);

	return serial == process_serial(task) &&
	       (pid == tid || pid == (u32)BPF_CORE_READ(task, tgid));
}

static __always_inline bool entry_is_of_task(u64 addr, const struct task_entry *t)
{
	return BPF_CORE_READ((struct task_struct *)addr, start_time) == t->start_ns ||
	       task_leads_by_exec(addr, t->serial, t->tid);
}

__hidden struct task_entry *task_find(u64 task)
{
	struct task_entry *t = task_entry_at(task);

	return t && entry_is_of_task(task, t) ? t : NULL;
}

__hidden struct task_entry *task_find_begun(u64 task, u64 start_ns)
{
	struct task_entry *t = task_entry_at(task);

	return t && t->start_ns == start_ns ? t : NULL;
}

u64 task_find_stale(u64 task)
{
	struct task_entry *t = task_entry_at(task);
	u64 start_ns;

	if (!t)
		return 0;
	start_ns = t->start_ns; /* first: the entry may be reused for another task at any time */
	barrier();
	return entry_is_of_task(task, t) ? 0 : start_ns;
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

/* Returns the slot of @task, which owns it only once it is claimed. */
static __always_inline struct call_entry *call_slot(u64 task)
{
	u32 at = (task >> 6) * 0x9e3779b97f4a7c15ULL >> 32 & (CALL_SLOTS - 1);

	return bpf_map_lookup_elem(&call_slots, &at);
}

__hidden struct call_entry *calls_find(u64 task, u64 start_ns)
{
	struct call_entry *n = call_slot(task);

	if (n && n->task == task && n->start_ns == start_ns)
		return n;
	n = bpf_map_lookup_elem(&call_tasks, &task);
	return n && n->start_ns == start_ns ? n : NULL;
}

__hidden struct call_entry *calls_make(u64 task, u64 start_ns)
{
	struct call_entry *n = call_slot(task);

	if (!n || __sync_val_compare_and_swap(&n->task, 0, task)) {
		bpf_map_update_elem(&call_tasks, &task, &no_calls, BPF_ANY);
		n = bpf_map_lookup_elem(&call_tasks, &task);
	}
	if (n)
		n->start_ns = start_ns;
	return n;
}

int calls_take_over(u64 task, u64 before_ns, u64 start_ns)
{
	struct call_entry *n = before_ns == start_ns ? NULL : calls_find(task, before_ns);

	if (n)
		n->start_ns = start_ns;
	return 0;
}

/*
 * Deletes the call entry after the last commit of @task. A slot is released only after it is
 * cleared.
 */
static __always_inline void calls_forget(u64 task)
{
	struct call_entry *n = call_slot(task);

	if (!n || n->task != task) {
		bpf_map_delete_elem(&call_tasks, &task);
		return;
	}
	n->opening = 0;
	n->now = (struct call_counters){};
	n->done = (struct call_counters){};
	n->to.protocol = 0;
	n->start_ns = 0;
	__sync_val_compare_and_swap(&n->task, task, 0);
}

__hidden void task_forget(u64 task)
{
	struct task_entry *t = task_entry_at(task);
	u64 mark, is_met;

	if (t) {
		mark = __sync_lock_test_and_set(&t->met, MET_AND_REMOVED);
		is_met = is_zero(mark >> 1 ^ drain_pass.number);
		/* counted once, even if another CPU runs this for the same task */
		if (mark != MET_AND_REMOVED)
			add(tracking.tasks, -(1 + (is_met << tasks_met_shift(mark >> 1))));
	}
	if (want_calls)
		calls_forget(task);
	bpf_map_delete_elem(&tasks, &task);
}

/*
 * Returns the serial of the process of @p, or 0 while another CPU fills it in. The serial is read
 * once, as another CPU may replace the entry at this key meanwhile.
 */
static __always_inline u64 process_serial_read(const struct process_entry *p)
{
	const volatile struct process_record *r = &p->event.rec;

	u64 is_filled = is_set(r->signal);

	return r->serial & -is_filled;
}

__hidden struct process_entry *process_find(u64 signal, u64 serial)
{
	struct process_entry *p = process_entry_at(signal);
	u64 known;

	if (!p)
		return NULL;
	known = process_serial_read(p);
	return is_set(known) & is_set(known ^ serial) ? NULL : p;
}

u64 process_find_stale(u64 signal, u64 serial)
{
	struct process_entry *p = process_entry_at(signal);
	u64 known = p ? process_serial_read(p) : 0;

	return known == serial ? 0 : known;
}

__hidden long process_put(u64 signal)
{
	return bpf_map_update_elem(&processes, &signal, &no_process, BPF_NOEXIST);
}

__hidden long process_forget(u64 signal)
{
	return bpf_map_delete_elem(&processes, &signal);
}
