// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The drain: commits what the live tasks have used so far, and tells of each live process. */
#include "bpfmon.bpf.h"

__u32 drain_epoch; /* raised before each drain: a process is told of once */
bool drain_all;	   /* read every task, also one that seems not to have run */

/* Reads through a pointer that may go stale while we read; commit() finds out. */
static __always_inline void counters_read(struct task_struct *task, struct task_counters *now)
{
#define TASK_METRIC(base, group, kind, unit, field, help)                                          \
	if (COUNTER_IS_READ(base, field))                                                          \
		now->base = PROBED(task, field);
#include "bpfmon/metrics.def"
	now->utime = PROBED(task, utime);
	now->stime = PROBED(task, stime);
}

/*
 * A task that has neither run nor switched since the last commit has nothing to add: most tasks, at
 * most samples. One that runs right now shows it at the next tick.
 */
static __always_inline bool has_slept(struct task_struct *task, const struct task_entry *t)
{
	const u64 needed = 1ULL << TC_cpu | 1ULL << TC_nvcsw | 1ULL << TC_nivcsw;

	return !drain_all && (wanted & needed) == needed &&
	       PROBED(task, se.sum_exec_runtime) == t->last.cpu &&
	       PROBED(task, nvcsw) == t->last.nvcsw && PROBED(task, nivcsw) == t->last.nivcsw;
}

/* False when the row did not fit: the kernel then shows this element again. */
static __always_inline bool process_tell(struct seq_file *seq, struct task_struct *task,
					 struct process_entry *p)
{
	struct drain_row row = {};
	struct mm_struct *mm;

	if (p->epoch == drain_epoch)
		return true;
	row.serial = p->event.rec.serial;
	row.image = p->event.rec.image;
	mm = PROBED(task, mm);
	if (want_memory && mm) {
		memory_read(mm, &row);
		/* the task may have exec'd or gone meanwhile: then the next sample tells */
		if (PROBED(task, mm) != mm)
			return true;
	}
	if (bpf_seq_write(seq, &row, sizeof(row)))
		return false;
	p->epoch = drain_epoch;
	return true;
}

SEC("iter/bpf_map_elem")
int drain__tasks(struct bpf_iter__bpf_map_elem *ctx)
{
	u64 *key = ctx->key;
	struct task_entry *t = ctx->value;
	struct seq_file *seq = ctx->meta->seq;
	struct task_counters now = {};
	struct process_entry *p;
	struct task_struct *task;
	u64 addr;

	if (!key || !t)
		return 0;
	addr = *key;
	task = (struct task_struct *)addr;
	p = process_find(t->process);
	if (!p)
		return 0;
	if ((u64)PROBED(task, signal) != t->process) { /* its free event was missed */
		add(tracking.loss[LOSS_STALE], 1);
		task_forget(addr);
		return 0;
	}
	if (!has_slept(task, t)) {
		counters_read(task, &now);
		commit(addr, t, p, &now, false);
	}
	if (!process_tell(seq, task, p))
		return 0;
	add(tracking.visited, 1);
	return 0;
}
