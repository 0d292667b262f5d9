// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The drain: commits what the tasks have used so far, and writes a row for each process. It walks
 * the map from an iterator over one task: kernels that are hardened refuse iterators over map
 * elements.
 */
#include "tasks.bpf.h"

#define PF_KTHREAD 0x00200000

const volatile bool only_runs; /* with whole_node: no task that is in no run is of interest */

bool check_members; /* tasks may have been moved out unseen */
__u32 drain_epoch;  /* raised before each drain, which reports a process once */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set before loading */
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct drain_row);
} drain_rows SEC(".maps");

const volatile __u32 nr_drain_rows; /* entries of that */

static __always_inline bool is_kernels(struct task_struct *task)
{
	return BPF_CORE_READ(task, flags) & PF_KTHREAD;
}

/* Without branches, as the verifier would walk what comes after each of them twice. */
static __always_inline u32 row_flags(struct task_struct *task, const struct process_entry *p)
{
	u32 flags = p->event.rec.flags, live = BPF_CORE_READ(task, signal, live.counter);
	u32 is_kernels_own = BPF_CORE_READ(task, flags) / PF_KTHREAD;
	/* threads without an entry may be in a cgroup that is not followed */
	u32 known = p->alive_tasks;
	u32 is_alive = ~(flags / PROCESS_ENDED) & ~is_kernels_own & (live | -live) >> 31 &
		       (known | -known) >> 31;

	return (is_alive & 1) * ROW_ALIVE | (flags / PROCESS_SHARES & 1) * ROW_SHARES |
	       (p->event.rec.mark_fell & 1) * ROW_MARK_FELL;
}

/*
 * Pages are resident where something is mapped. More than that is none of an address space: what
 * was read was freed meanwhile, or is being changed.
 */
static __always_inline bool memory_is_possible(const struct drain_row *row)
{
	const u64 most = row->vms_pages + mark_error_pages();

	return row->pages[RSS_FILE] <= most && row->pages[RSS_ANON] <= most &&
	       row->pages[RSS_SHMEM] <= most;
}

/*
 * False: @task has no address space, or another one at each read: it is in exec or exit. Or it has
 * been freed, and its place is another process's by now. What is read for none of the tasks of a
 * live process counts as lost.
 */
static __always_inline bool memory_report(struct task_struct *task, struct process_entry *p,
					  struct drain_row *row)
{
	const struct seen_marks before = p->seen;
	struct seen_marks now;
	struct mm_struct *mm;

	barrier();
	for (int i = 0; i < 2; i++) {
		mm = BPF_CORE_READ(task, mm);
		if (!mm || is_kernels(task)) /* a kernel thread may borrow one */
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

/* @task has given up its memory, which may not be freed yet, and the exit hook has not run. */
static __always_inline void ending_bound(struct task_struct *task, struct process_entry *p,
					 struct drain_row *row)
{
	u64 maxrss = BPF_CORE_READ(task, signal, maxrss);

	if (p->mark_noted)
		return;
	if (p->seen.mm && p->seen.mm == row->used_mm && p->seen.largest_pages > row->bound_pages)
		row->bound_pages = p->seen.largest_pages;
	if (!BPF_CORE_READ(task, signal, live.counter) && maxrss > row->bound_pages)
		row->bound_pages = maxrss; /* by now it includes the mark of this memory */
}

/*
 * Writes a row for the process of @task once, and once more if the task that was met first had no
 * memory (any more): another task of the process may have it.
 * Not inlined: its sibling calls are deep, too, and the kernel allows 512 bytes of stack for all.
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
	has_memory = want_memory && memory_report(task, p, row);
	if (want_memory && !has_memory && p->blank_epoch == drain_epoch)
		return 0;
	row->flags = row_flags(task, p);
	if (want_memory && !has_memory)
		ending_bound(task, p, row);
	barrier();
	if (p->event.rec.serial != row->serial) /* the entry is another process's by now */
		return 0;
	drain_pass.rows = at + 1;
	if (want_memory && !has_memory)
		p->blank_epoch = drain_epoch;
	else
		p->epoch = drain_epoch;
	return 0;
}

/*
 * A function of its own that takes a number: the verifier checks it once, not at each step of the
 * walk. The free event of a task was missed if the memory of the task, or of its process, is
 * another's; or has been free for so long that no event will come.
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
	start_ns = t->start_ns; /* first: the entry may be another task's at any time */
	barrier();
	p = process_of(t);
	if (t->task != addr) /* closed, or another task's by now */
		return 0;
	if (!p ||
	    (whole_node && task_is_forgotten(addr))) { /* of a run, its end closes the latter */
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
	/* if the exit of a task was missed, it has run since it was last seen */
	if (task_commit(addr, t, p) && !t->exited && BPF_CORE_READ(task, exit_state))
		task_note_exit(addr, false);
	if (p->epoch != drain_epoch) /* once for each process and drain */
		lifetime_commit(t->process, t->serial, bpf_ktime_get_ns(), LIFETIME_OF_LIVE);
	row_write(task, p);
	return 0;
}

/* Notes that the pass has met @t; one that was born during it is counted already. */
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
	if (drain_pass.met >= nr_drain_rows) { /* each task that is met may write a row */
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
