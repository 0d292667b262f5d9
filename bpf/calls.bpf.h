/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Where a task counts what its calls have moved. After bpfmon.bpf.h. */
#ifndef CALLS_BPF_H
#define CALLS_BPF_H

/* The entry of the current task; NULL: it is not followed, or there is no room. */
static __always_inline struct call_entry *calls_of_current(u64 task)
{
	struct call_entry *n = calls_find(task);
	struct task_entry *t;

	if (n)
		return n;
	t = task_find(task);
	if (!t && misses_seen && task_adopt(task))
		t = task_find(task);
	return t ? calls_make(task) : NULL;
}

#endif
