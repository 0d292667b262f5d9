// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The drain: commits what tasks have used so far and writes a row for each process. It walks the
 * map of tasks from an iterator over a single task, as hardened kernels refuse iterators over map
 * elements.
 */
#include "tasks.bpf.h"

#define PF_KTHREAD 0x00200000

const volatile bool only_runs; /* with whole_node: skip tasks that are in no run */

bool check_members; /* tasks may have moved out of the cgroup unseen */
__u32 drain_epoch;  /* incremented before each drain; a drain reports each process once */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set before loading */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct drain_row);
} drain_rows SEC(".maps");

const volatile __u32 nr_drain_rows; /* entries of drain_rows */

static __always_inline bool task_is_kernel_thread(struct task_struct *task)
{
	return BPF_CORE_READ(task, flags) & PF_KTHREAD;
}

/* Branch-free, see is_set(). */
static __always_inline u32 row_flags(struct task_struct *task, const struct process_entry *p)
{
	u32 flags = p->event.rec.flags, live = BPF_CORE_READ(task, signal, live.counter);
	u32 is_kernel_thread = BPF_CORE_READ(task, flags) / PF_KTHREAD;
	/* threads without an entry may be in a cgroup that is not tracked */
	u32 known = p->alive_tasks;
	u32 is_alive = ~(flags / PROCESS_ENDED) & ~is_kernel_thread & (live | -live) >> 31 &
		       (known | -known) >> 31;

	return (is_alive & 1) * ROW_ALIVE | (flags / PROCESS_SHARES & 1) * ROW_SHARES |
	       (p->event.rec.mark_fell & 1) * ROW_MARK_FELL;
}

/*
 * Returns false if more pages are resident than mapped: the memory was freed or changed during the
 * read.
 */
static __always_inline bool memory_is_possible(const struct drain_row *row)
{
	const u64 most = row->vms_pages + mark_error_pages();

	return row->pages[RSS_FILE] <= most && row->pages[RSS_ANON] <= most &&
	       row->pages[RSS_SHMEM] <= most;
}

/*
 * Reads the size of the address space of @task into @row. Returns false if the task has none, or a
 * different one after each read (it is in exec or exit), or if its memory has been reused by
 * another process. The collector counts a live process as lost if no task of it could be read.
 */
static __always_inline bool row_read_memory(struct task_struct *task, struct process_entry *p,
					    struct drain_row *row)
{
	const struct seen_marks before = p->seen;
	struct seen_marks now;
	struct mm_struct *mm;

	barrier();
	for (int i = 0; i < 2; i++) {
		mm = BPF_CORE_READ(task, mm);
		if (!mm ||
		    task_is_kernel_thread(task)) /* a kernel thread may borrow an address space */
			break;
		memory_read(mm, row, &now);
		/* what was read may be reused memory */
		if (BPF_CORE_READ(task, mm) != mm || !memory_is_possible(row))
			continue;
		if (process_serial(task) != row->serial)
			break;
		row->peak_pages = mark_note(p, row->serial, &before, &now);
		if (row->peak_pages > row->bound_pages)
			row->bound_pages = row->peak_pages;
		row->mm = row->used_mm = (u64)mm;
		if (want_exact_peak)
			mm_refresh((u64)mm);
		return true;
	}
	return false;
}

/*
 * Raises the bound of a process that has given up its memory, possibly not freed yet, while the
 * exit hook has not run.
 */
static __always_inline void row_raise_bound(struct task_struct *task, struct process_entry *p,
					    struct drain_row *row)
{
	u64 maxrss = BPF_CORE_READ(task, signal, maxrss);

	if (p->mark_noted)
		return;
	if (p->seen.mm && p->seen.mm == row->used_mm && p->seen.largest_pages > row->bound_pages)
		row->bound_pages = p->seen.largest_pages;
	if (!BPF_CORE_READ(task, signal, live.counter) && maxrss > row->bound_pages)
		row->bound_pages = maxrss; /* maxrss includes the mark of this memory by now */
}

/*
 * Writes a row for the process of @task once per drain, and a second time if the first visited task
 * had no memory (any more): another task of the process may have it. Not inlined: its sibling calls
 * are deep, too, and the kernel allows 512 bytes of stack for all.
 */
static __noinline int row_write(struct task_struct *task, struct process_entry *p)
{
	u32 at = drain_pass.rows;
	struct drain_row *row = bpf_map_lookup_elem(&drain_rows, &at);
	bool has_memory;

	if (!row || p->epoch == drain_epoch)
		return 0;
	*row = (struct drain_row){};
	row->serial = p->event.rec.serial;
	barrier();
	row->account = process_account(p);
	row->signal = p->event.rec.signal;
	row->image = p->event.rec.image;
	row->used_mm = p->event.rec.mm;
	row->pid = p->event.rec.pid;
	row->start_boot_ns = p->event.rec.start_boot_ns;
	row->end_boot_ns = p->event.rec.end_boot_ns;
	row->joined_boot_ns = p->event.rec.joined_boot_ns;
	row->released_boot_ns = p->event.rec.released_boot_ns;
	row->bound_pages = p->event.rec.rss_bound_pages;
	has_memory = want_memory && row_read_memory(task, p, row);
	if (want_memory && !has_memory && p->blank_epoch == drain_epoch)
		return 0;
	row->flags = row_flags(task, p);
	if (want_memory && !has_memory)
		row_raise_bound(task, p, row);
	barrier();
	/* the entry has been reused for another process */
	if (p->event.rec.serial != row->serial)
		return 0;
	drain_pass.rows = at + 1;
	if (want_memory && !has_memory)
		p->blank_epoch = drain_epoch;
	else
		p->epoch = drain_epoch;
	return 0;
}

/*
 * Drains one task. A global function that takes a number, so the verifier checks it once and not
 * for each step of the walk. The free event of a task was missed if it is freed, or if its memory
 * or that of its process has been reused.
 */
int task_drain(u64 addr)
{
	struct task_struct *task = (struct task_struct *)addr;
	struct task_entry *t = task_find(addr);
	struct process_entry *p;
	u64 start_ns;

	if (!t) {
		task_close_stale(addr);
		return 0;
	}
	start_ns = t->start_ns; /* first: the entry may be reused for another task at any time */
	barrier();
	p = process_of(t);
	if (t->task != addr) /* closed, or reused for another task */
		return 0;
	if (!p || task_is_freed(addr)) {
		task_close(addr, start_ns);
		return 0;
	}
	if (only_runs && !p->event.rec.account.tree)
		return 0;
	if (by_cgroup && check_members && !t->exited && !cgroup_has(addr)) {
		task_leave(addr);
		return 0;
	}
	if (whole_node)
		process_recount(addr);
	/* a task whose exit was missed has run since it was last read */
	if (task_commit(addr, t, p) && !t->exited && BPF_CORE_READ(task, exit_state))
		task_note_exit(addr, false);
	if (p->epoch != drain_epoch) /* once per process and drain */
		lifetime_commit(t->process, t->serial, bpf_ktime_get_ns(), LIFETIME_OF_LIVE);
	row_write(task, p);
	return 0;
}

/*
 * Marks @t as visited by this pass and counts it, unless it was born during the pass and counted
 * then.
 */
static __always_inline void task_note_met(struct task_entry *t, u64 mark)
{
	u64 before = t->met;

	if (before != MET_AND_REMOVED)
		before = __sync_lock_test_and_set(&t->met, mark);
	if (before != MET_AND_REMOVED && before >> 1 != mark >> 1)
		add(tracking.tasks, met_one(mark));
}

static long task_visit(struct bpf_map *map, u64 *key, struct task_entry *t, void *context)
{
	const u64 mark = drain_pass.number << 1;

	if (t->met == mark)
		return 0;
	if (drain_pass.met >= nr_drain_rows) { /* each visited task may write a row */
		drain_pass.is_cut = 1;
		return 1;
	}
	drain_pass.met++;
	task_note_met(t, mark);
	task_drain(*key);
	return 0;
}

SEC("iter/task")
int drain__tasks(struct bpf_iter__task *ctx)
{
	if (!ctx->task) /* the call after the last task */
		tasks_each(task_visit);
	return 0;
}
