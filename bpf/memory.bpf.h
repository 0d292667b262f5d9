/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The third rung: what an address space holds, its marks and its exact peak. */
#ifndef MEMORY_BPF_H
#define MEMORY_BPF_H

#include "books.bpf.h"

/* In the order of the ladder: a file uses functions of the files above it, none of those below. */

/* memory.bpf.c */
/* Reads what @mm holds, and its marks. */
__hidden void memory_read(struct mm_struct *mm, struct drain_row *row, struct seen_marks *now);
/* Reads the marks of @mm, in which @resident pages are resident. */
__hidden void marks_read(struct mm_struct *mm, u64 resident, struct seen_marks *now);
/* Pages that are resident in @mm, which its creator has just made on this CPU. */
u64 resident_read_at_birth(u64 mm);

/* Pages that are resident, as procfs reports them. */
__hidden u64 resident_read(struct mm_struct *mm);
/* The central part of a per-CPU counter: it changes in batches. */
__hidden s64 rss_central_read(struct mm_struct *mm, u32 member);

/* peak.bpf.c; all only with want_exact_peak */
/* The process uses @mm from now on; a process has one at a time. */
int mm_join(u64 signal, u64 serial, u64 mm);
/* It no longer uses its address space. @is_torn_down: which holds no pages any more. */
int mm_leave(u64 signal, u64 serial, u32 is_torn_down);
/* The record of the process is about to be emitted: adds to it what was held at the peak. */
int mm_forget(u64 signal, u64 serial);
/* The pages of @mm have been freed, by the process @signal; 0: by one that is not followed. */
int mm_note_freed(u64 mm, u64 signal, u64 serial);
/* @mm is new: if it has an entry, that is of an earlier one, the end of which was missed. */
int mm_note_born(u64 mm);
/* Reads what @mm holds now, if it is followed. */
int mm_refresh(u64 mm);

/* marks.bpf.c */
extern bool knows_release;
/* The process of @task has ended or left the cgroup: records the mark of its last image. */
__hidden void peak_note_exit(struct task_struct *task, struct process_entry *p);
__hidden void peak_note_exec(struct task_struct *task, struct process_entry *p);
/*
 * Records @now, the marks of the address space that @p uses, if @p is still the process @serial.
 * @before is a copy of the marks in @p, made before @now was read. Returns the most that it was
 * ever found to hold: more than in @now if the kernel's mark was reset, which is noted.
 */
__hidden u64 mark_note(struct process_entry *p, u64 serial, const struct seen_marks *before,
		       const struct seen_marks *now);

#endif
