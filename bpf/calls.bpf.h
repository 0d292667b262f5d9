/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The entry in which a task counts what its calls have moved. */
#ifndef CALLS_BPF_H
#define CALLS_BPF_H

#include "books.bpf.h"

/*
 * Returns the entry of the current task, which began at @start_ns; makes it if needed. Returns NULL
 * if the task is not tracked or there is no room. After a missed exec a thread has a later start
 * time than its entries.
 */
static __always_inline struct call_entry *calls_of_current(u64 start_ns)
{
	u64 task = bpf_get_current_task();
	struct call_entry *n = calls_find(task, start_ns);
	struct task_entry *t;

	if (n)
		return n;
	t = task_find(task);
	if (!t && misses_seen && task_adopt(task))
		t = task_find(task);
	if (!t)
		return NULL;
	n = t->start_ns != start_ns ? calls_find(task, t->start_ns) : NULL;
	return n ? n : calls_make(task, t->start_ns);
}

#endif
