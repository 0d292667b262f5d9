// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The high-water mark of each image that a process runs, and the time at which its memory is freed.
 * The kernel keeps the mark. It is too low, which shows when a drain has read more, after 5 was
 * written to /proc/PID/clear_refs, and if pages were touched while munmap() freed others: the
 * kernel notes the size before that call and not the growth during it.
 */
#include "memory.bpf.h"

bool knows_old_image; /* set if marks__prepare_exec is attached */
bool knows_release;   /* set if marks__exit_mmap is attached */

static __always_inline void bound_note(struct process_entry *p, u64 pages)
{
	p->event.rec.rss_bound_pages += value_excess(pages, p->event.rec.rss_bound_pages);
}

static __always_inline void peak_note(struct process_entry *p, u64 peak)
{
	p->event.rec.rss_peak_pages += value_excess(peak, p->event.rec.rss_peak_pages);
	bound_note(p, peak);
}

/*
 * Notes an exact peak. If it is not below a peak that was an upper bound, the peak becomes exact.
 */
static __always_inline void peak_note_exact(struct process_entry *p, u64 pages)
{
	if (pages >= p->event.rec.rss_peak_pages)
		p->event.rec.flags &= ~PROCESS_PEAK_UPPER_BOUND;
	peak_note(p, pages);
}

static __always_inline void peak_note_bound(struct process_entry *p, u64 pages)
{
	p->event.rec.flags |= PROCESS_PEAK_UPPER_BOUND;
	peak_note(p, pages);
}

__hidden u64 mark_note(struct process_entry *p, u64 serial, const struct seen_marks *before,
		       const struct seen_marks *now)
{
	u64 is_same = is_zero(before->mm ^ now->mm), fell;
	u64 largest = before->largest_pages & -is_same, high = now->largest_pages;

	fell = is_same & (is_less(now->kernel_pages + rss_batch_pages(), before->kernel_pages) |
			  is_less(high + mark_error_pages(), largest));
	largest += value_excess(high, largest);
	process_lock(p);
	/* a drain may be late and the entry another process's */
	if (p->event.rec.serial == serial) {
		p->event.rec.mark_fell |= fell;
		p->seen.mm = now->mm;
		p->seen.kernel_pages = now->kernel_pages;
		p->seen.largest_pages = largest;
	}
	process_unlock(p);
	return largest;
}

/*
 * Reads and records the marks of @mm, which @p uses. Sets @resident to the resident pages and
 * returns the largest size ever seen.
 */
static __always_inline u64 mark_refresh(struct process_entry *p, struct mm_struct *mm,
					u64 *resident)
{
	const struct seen_marks before = p->seen;
	struct seen_marks now;

	barrier(); /* copied first: a drain on another CPU may write newer marks meanwhile */
	*resident = resident_read(mm);
	marks_read(mm, *resident, &now);
	return mark_note(p, p->event.rec.serial, &before, &now);
}

/*
 * Records the mark of the last image. Since 6.16 the address space still exists at this hook.
 * Before, only signal->maxrss is left, the maximum over all images: it belongs to this image if it
 * has grown since its exec.
 */
__hidden void peak_note_exit(struct task_struct *task, struct process_entry *p)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u64 maxrss, resident;

	if (mm) {
		peak_note_exact(p, mark_refresh(p, mm, &resident));
		return;
	}
	maxrss = BPF_CORE_READ(task, signal, maxrss);
	if (p->event.rec.execs && maxrss <= p->maxrss_at_exec)
		peak_note_bound(p, maxrss);
	else
		peak_note_exact(p, maxrss);
	if (p->seen.mm != p->event.rec.mm)
		return;
	if (maxrss + mark_error_pages() < p->seen.largest_pages)
		p->event.rec.mark_fell = 1;
	peak_note(p, p->seen.largest_pages);
}

/*
 * Notes the peak of an image that was inherited by fork and ends by exec: its peak was @high, its
 * size at the end @now. Only growth beyond the inherited pages is the process's own. How many
 * inherited pages it freed before it grew is unknown.
 */
static __always_inline void peak_note_first_exec(struct process_entry *p, u64 high, u64 now)
{
	const u64 inherited = p->inherited_pages, error = mark_error_pages();
	const u32 flags = p->event.rec.flags;
	const u64 is_known = is_set(inherited ^ INHERITED_ALL);
	u64 own = value_excess(high, inherited) & -is_known;
	u64 grew = is_less(error, own) & is_less(error, inherited);
	u64 shrank = is_known & is_less(now + error, inherited);

	if (flags & PROCESS_SEEDED)
		own = high;
	else if (flags & PROCESS_LATE || grew || shrank)
		p->event.rec.unsure_pages = high;
	peak_note(p, own);
}

/*
 * Records the mark of the old image from signal->maxrss, which never falls, where the hook
 * marks__prepare_exec does not exist.
 */
__hidden void peak_note_exec(struct task_struct *task, struct process_entry *p)
{
	u64 maxrss = BPF_CORE_READ(task, signal, maxrss);
	const u32 flags = p->event.rec.flags;

	if (p->event.rec.execs && maxrss > p->maxrss_at_exec)
		peak_note_exact(p, maxrss);
	else if (p->event.rec.execs && !knows_old_image)
		peak_note_bound(p, maxrss);
	else if (!p->event.rec.execs && (!knows_old_image || flags & PROCESS_LATE))
		peak_note_first_exec(p, maxrss, maxrss);
	if (!(flags & PROCESS_LAUNCHED) && (!knows_old_image || flags & PROCESS_LATE))
		bound_note(p, maxrss);
	p->maxrss_at_exec = maxrss;
	if (!knows_old_image && p->seen.mm && p->seen.mm == p->event.rec.mm) {
		if (maxrss + mark_error_pages() < p->seen.largest_pages)
			p->event.rec.mark_fell = 1;
		if (p->event.rec.execs)
			peak_note(p, p->seen.largest_pages);
		else if (!(flags & PROCESS_LAUNCHED))
			bound_note(p, p->seen.largest_pages);
	}
	/* a new address space may get the same address */
	p->seen.mm = p->seen.kernel_pages = p->seen.largest_pages = 0;
}

/*
 * Records the mark of an image that ends by exec. A borrowed address space, as after vfork, counts
 * for the process that owns it.
 */
SEC("?tp_btf/sched_prepare_exec")
int BPF_PROG(marks__prepare_exec, struct task_struct *task, struct linux_binprm *bprm)
{
	struct process_entry *p = process_of(task_find(as_number(task)));
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u64 high, resident;

	if (!p || !mm)
		return 0;
	high = mark_refresh(p, mm, &resident);
	if (p->event.rec.execs) {
		peak_note(p, high);
		return 0;
	}
	peak_note_first_exec(p, high, resident);
	if (!(p->event.rec.flags & PROCESS_LAUNCHED) && mm != BPF_CORE_READ(task, real_parent, mm))
		bound_note(p, high);
	return 0;
}

/*
 * The last user of an address space has freed its pages. At an exec that is the old image: the
 * process lives on and its memory is not released.
 */
SEC("?tp_btf/exit_mmap")
int BPF_PROG(marks__exit_mmap, struct mm_struct *mm)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct task_entry *t = task_find((u64)task);
	struct process_entry *p = process_of(t);

	if (want_exact_peak)
		mm_note_freed(as_number(mm), p ? t->process : 0, p ? t->serial : 0);
	if (p && !BPF_CORE_READ(task, signal, live.counter)) {
		p->event.rec.released_boot_ns = boot_now();
		/* from 6.16 on the exit hook runs before this, and the last thread still lives */
		lifetime_commit(t->process, t->serial, bpf_ktime_get_ns(), LIFETIME_OF_LAST);
	}
	return 0;
}
