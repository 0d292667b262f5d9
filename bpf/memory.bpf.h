/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Third layer of the BPF code: the size of an address space, its high-water marks and its exact
 * peak. Declared in the order in which the files build on each other.
 */
#ifndef MEMORY_BPF_H
#define MEMORY_BPF_H

#include "books.bpf.h"

/* memory.bpf.c */
/* Reads the size of @mm and its marks. */
__hidden void memory_read(struct mm_struct *mm, struct drain_row *row, struct seen_marks *now);
/* Reads the marks of @mm, given that @resident pages are resident. */
__hidden void marks_read(struct mm_struct *mm, u64 resident, struct seen_marks *now);
/* Returns the resident pages of @mm, which its creator has just made on this CPU. */
u64 resident_read_at_birth(u64 mm);

/* Returns the resident pages as procfs reports them. */
__hidden u64 resident_read(struct mm_struct *mm);
/* Returns the central part of a per-CPU counter, which changes in batches. */
__hidden s64 rss_central_read(struct mm_struct *mm, u32 member);

/* peak.bpf.c; used only with want_exact_peak */
/* Notes that the process uses @mm from now on; a process uses one at a time. */
int mm_join(u64 signal, u64 serial, u64 mm);
/* Notes that the process gives up its address space. @is_torn_down: its pages are freed already. */
int mm_leave(u64 signal, u64 serial, u32 is_torn_down);
/* Adds what the process held at the peak to its record, which is about to be emitted. */
int mm_forget(u64 signal, u64 serial);
/* Notes that the process @signal (0: an untracked one) has freed the pages of @mm. */
int mm_note_freed(u64 mm, u64 signal, u64 serial);
/*
 * Closes an entry at the address of the new @mm: it belongs to an earlier one whose end was missed.
 */
int mm_note_born(u64 mm);
/* Reads the size of @mm if it is tracked. */
int mm_refresh(u64 mm);

/* marks.bpf.c */
extern bool knows_release;
/* Records the high-water mark of the last image when the process exits or leaves the cgroup. */
__hidden void peak_note_exit(struct task_struct *task, struct process_entry *p);
__hidden void peak_note_exec(struct task_struct *task, struct process_entry *p);
/*
 * Records @now, the marks of the address space of @p, if @p is still the process @serial. @before
 * must be copied from @p before @now was read. Returns the largest size seen so far: more than in
 * @now if the kernel's mark is too low, which is noted in the record.
 */
__hidden u64 mark_note(struct process_entry *p, u64 serial, const struct seen_marks *before,
		       const struct seen_marks *now);

#endif
