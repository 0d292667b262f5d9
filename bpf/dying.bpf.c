// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Tasks between their exit and their last switch, after which their counters are final. The kernel
 * frees them a grace period later, and the event of that may be missed. No event shows that a task
 * has become final, so each exit and fork on the machine commits those that are. Where none comes,
 * a timer does, in an optional program, as the oldest kernels and real-time ones have no timers.
 */
#include "tasks.bpf.h"

#define COMMIT_CPUS 4 /* each exit and fork commits the last exits of so many CPUs */
#define LATE_SLOTS 8
#define WAIT_FIRST_NS 4000000 /* most grace periods are longer; setting a timer costs some us */
#define WAIT_MOST_NS 32000000 /* for a task that takes long to exit */
#define CLOCK_MONOTONIC 1

/* The last task that exited on each CPU, and earlier ones that were not off the CPU yet. */
__u64 last_exited[MAX_CPUS], late_exited[MAX_CPUS][LATE_SLOTS];

struct dying_timer {
	struct bpf_timer timer;
	u64 is_ready; /* it has a callback */
	u64 is_set;   /* it will run */
	u64 wait_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CPUS);
	__type(key, u32);
	__type(value, struct dying_timer);
} dying_timers SEC(".maps");

/* Empties the slot, unless another task has got it since. */
static __always_inline void slot_commit(u64 *slot)
{
	u64 task = *slot;

	if (task && task_commit_exited(task))
		__sync_val_compare_and_swap(slot, task, 0);
}

int dying_commit(void)
{
	u32 own = bpf_get_smp_processor_id();

	for (u32 i = 0; i < COMMIT_CPUS; i++)
		slot_commit(&last_exited[(nr_cpus <= COMMIT_CPUS ? i : own + i) & (MAX_CPUS - 1)]);
	for (u32 i = 0; i < LATE_SLOTS; i++)
		slot_commit(&late_exited[own & (MAX_CPUS - 1)][i]);
	return 0;
}

/* Keeps @task, which was preempted or sleeps between its exit and its last switch. */
static __always_inline void late_exited_put(u32 cpu, u64 task)
{
	u32 free = 0;

	for (u32 i = 0; i < LATE_SLOTS; i++)
		if (!late_exited[cpu][i])
			free = i;
	late_exited[cpu][free & (LATE_SLOTS - 1)] = task;
}

int dying_add(u64 task)
{
	u32 cpu = bpf_get_smp_processor_id() & (MAX_CPUS - 1);
	u64 before = __sync_lock_test_and_set(&last_exited[cpu], task);

	if (before)
		late_exited_put(cpu, before);
	return 0;
}

/* Commits those that exited on @cpu. Returns true if one is not final yet. */
int dying_commit_of(u32 cpu)
{
	u64 left;

	cpu &= MAX_CPUS - 1;
	slot_commit(&last_exited[cpu]);
	left = last_exited[cpu];
	for (u32 i = 0; i < LATE_SLOTS; i++) {
		slot_commit(&late_exited[cpu][i]);
		left |= late_exited[cpu][i];
	}
	return !!left;
}

static __always_inline void dying_timer_start(struct dying_timer *t, u64 wait_ns)
{
	t->wait_ns = wait_ns;
	__sync_lock_test_and_set(&t->is_set, 1);
	if (bpf_timer_start(&t->timer, wait_ns, 0))
		t->is_set = 0;
}

static int dying_timer_run(void *map, u32 *cpu, struct dying_timer *t)
{
	/* atomic: a task that is added from now on sets the timer itself */
	__sync_lock_test_and_set(&t->is_set, 0);
	if (dying_commit_of(*cpu))
		dying_timer_start(t, t->wait_ns < WAIT_MOST_NS ? t->wait_ns * 2 : WAIT_MOST_NS);
	return 0;
}

/* Runs before or after follow__exit: the timer takes what that has added by then. */
SEC("?tp_btf/sched_process_exit")
int dying__exit(void *ctx)
{
	u32 cpu = bpf_get_smp_processor_id() & (MAX_CPUS - 1);
	struct dying_timer *t = bpf_map_lookup_elem(&dying_timers, &cpu);

	if (!t || (t->is_set && t->wait_ns == WAIT_FIRST_NS) || !task_find(bpf_get_current_task()))
		return 0;
	if (!t->is_ready) {
		bpf_timer_init(&t->timer, &dying_timers, CLOCK_MONOTONIC);
		t->is_ready = !bpf_timer_set_callback(&t->timer, dying_timer_run);
	}
	dying_timer_start(t, WAIT_FIRST_NS);
	return 0;
}
