/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* How long a task has been waiting for a CPU, of a wait that goes on. After bpfmon.bpf.h. */
#ifndef QUEUE_BPF_H
#define QUEUE_BPF_H

struct rq___clock {
	u64 clock;
} __attribute__((preserve_access_index));

/* With CONFIG_FAIR_GROUP_SCHED; that of a task of any class names the run queue of its CPU. */
struct cfs_rq___rq {
	struct rq___clock *rq;
} __attribute__((preserve_access_index));

struct sched_entity___queue {
	struct cfs_rq___rq *cfs_rq;
} __attribute__((preserve_access_index));

struct sched_info___queue {
	unsigned long long last_queued; /* by the clock of that run queue; 0: it does not wait */
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

/* 1 for any other number than 0. */
static __always_inline u64 is_any(u64 number)
{
	return (number | -number) >> 63;
}

/* True if @task is waiting for a CPU, where that is read. */
static __always_inline bool task_waits(struct task_struct *task)
{
	return WAIT_IS_READ() &&
	       BPF_CORE_READ((struct task_struct___queue *)task, sched_info.last_queued);
}

/*
 * For how long @task has been waiting for a CPU, if it is: the kernel adds that to run_delay when
 * the wait ends, by the same clock. To be read after run_delay: a wait that ends in between is then
 * in neither, and comes with the next commit. 0 if it is not the same wait after the clock was
 * read. Without branches, after which the verifier would walk the rest of the program twice.
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
	return (now - since) * (is_any(since) & ~is_any(since ^ again) & ~((now - since) >> 63));
}

#endif
