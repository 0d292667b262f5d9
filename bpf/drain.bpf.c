// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The drain: commits what the live tasks have used so far, and tells of each live process. */
#include "bpfmon.bpf.h"

bool drain_commits; /* without a lock: nobody else commits any more */
bool check_members; /* somebody may have been moved out unseen */
__u32 drain_epoch;  /* raised before each drain: a process is told of once */

/* False when the row did not fit: the kernel then shows this element again. */
static __always_inline bool process_tell(struct seq_file *seq, struct task_struct *task,
					 struct process_entry *p)
{
	struct drain_row row = {};
	struct mm_struct *mm;

	if (p->epoch == drain_epoch)
		return true;
	row.signal = p->event.rec.signal;
	row.serial = p->event.rec.serial;
	row.image = p->event.rec.image;
	row.pid = p->event.rec.pid;
	row.start_boot_ns = p->event.rec.start_boot_ns;
	row.end_boot_ns = p->event.rec.end_boot_ns;
	row.bound_pages = p->event.rec.rss_bound_pages;
	mm = BPF_CORE_READ(task, mm);
	if (want_memory && mm) {
		memory_read(mm, &row);
		if (want_exact_peak)
			mm_refresh((u64)mm);
		/* the task may have exec'd or gone meanwhile: then the next sample tells */
		if (BPF_CORE_READ(task, mm) != mm)
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
	struct process_entry *p;
	bool commits = has_lock || drain_commits;
	struct task_struct *task;
	u64 addr;

	if (!key || !t)
		return 0;
	addr = *key;
	task = (struct task_struct *)addr;
	p = process_find(t->process);
	if (!p)
		return 0;
	if (t->task != addr)
		return 0; /* closed, or another's by now */
	if (!task_is(addr, t)) {
		if (t->task == addr) /* its free event was missed */
			task_close(addr);
		return 0;
	}
	if (by_cgroup && check_members && !t->exited && !cgroup_has(addr)) {
		task_leave(addr);
		return 0;
	}
	/* a task whose exit was missed has run since it was last seen */
	if (commits && task_commit(addr, t, p) && !t->exited && BPF_CORE_READ(task, exit_state))
		task_ended(addr, false);
	if (!process_tell(seq, task, p))
		return 0;
	if (!commits) /* not before: one whose row did not fit is met again */
		task_pend(addr, t);
	add(tracking.visited, 1);
	return 0;
}
