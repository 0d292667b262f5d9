/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* How long a task waited for disk and memory, where the kernel keeps delays. */
#ifndef DELAYS_BPF_H
#define DELAYS_BPF_H

#include "base.bpf.h"

/* Kept only for some tasks, see delays_of(). In ns. */
struct task_delay_info___any {
	u64 blkio_delay, swapin_delay, freepages_delay, thrashing_delay;
	u64 compact_delay, wpcopy_delay, irq_delay;
} __attribute__((preserve_access_index));

struct task_struct___delays {
	struct task_delay_info___any *delays;
} __attribute__((preserve_access_index));

/* Exists with CONFIG_IRQ_TIME_ACCOUNTING; without it the kernel leaves irq_delay at 0. */
struct rq___irq {
	u64 prev_irq_time;
} __attribute__((preserve_access_index));

#define DELAY_IS_KEPT(field)                                                                       \
	(bpf_core_field_exists(((struct task_struct___delays *)0)->delays) &&                      \
	 bpf_core_field_exists(((struct task_delay_info___any *)0)->field))
#define DELAY_IS_READ(base, field) ((wanted & (1ULL << TC_##base)) && DELAY_IS_KEPT(field))

/* Returns NULL if kernel.task_delayacct was 0 at the birth of the task. */
static __always_inline struct task_delay_info___any *delays_of(struct task_struct *task)
{
	return BPF_CORE_READ((struct task_struct___delays *)task, delays);
}

/* tolerance for differences between the kernel's clocks, besides 1/256 */
#define CLOCKS_DIFFER_NS 10000000ULL

/*
 * Returns 1 if the counters exceed the lifetime of @task. From 6.12 on the kernel may add the time
 * since boot or since an earlier wait to blkio_delay: a wait whose dequeue was delayed has no start
 * time. Branch-free, see is_set().
 */
static __always_inline u64 blkio_is_wrong(struct task_struct *task, const struct task_counters *now)
{
	u64 lived = bpf_ktime_get_ns() - BPF_CORE_READ(task, start_time);
	u64 most = lived + lived / 256 + CLOCKS_DIFFER_NS;

	return (most - now->cpu - now->runqueue_wait - now->blkio_delay) >> 63;
}

/*
 * Reads the delays into @now, after the other counters. Inlined: on kernels as old as 6.1 each call
 * takes more of the 512 bytes of stack that a call chain has.
 */
static __always_inline void delays_read(struct task_struct *task, struct task_counters *now)
{
	struct task_delay_info___any *delays;

	if (!(wanted & DELAY_COUNTERS) ||
	    !bpf_core_field_exists(((struct task_struct___delays *)0)->delays))
		return;
	delays = delays_of(task);
	if (!delays) {
		now->without_delays = 1;
		return;
	}
#define DELAY_METRIC(base, group, kind, unit, field, help)                                         \
	if (DELAY_IS_READ(base, field))                                                            \
		now->base = BPF_CORE_READ(delays, field);
#include "bpfmon/metrics.def"
	now->blkio_wrong = blkio_is_wrong(task, now);
}

#endif
