/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Fourth layer of the BPF code: tasks and processes from birth to release. Declared in the order in
 * which the files build on each other.
 */
#ifndef TASKS_BPF_H
#define TASKS_BPF_H

#include "memory.bpf.h"

#define PIDTYPE_TGID 1

struct signal_struct___of_group {
	struct pid *pids[4];
} __attribute__((preserve_access_index));

/* Returns the kernel's number of the process that @signal belongs to now; 0: none, or released. */
static __always_inline u32 signal_tgid(u64 signal)
{
	struct signal_struct___of_group *group = (void *)signal;

	return BPF_CORE_READ(group, pids[PIDTYPE_TGID], numbers[0].nr);
}

struct task_struct___of_free {
	refcount_t usage;
	const void *real_cred;
} __attribute__((preserve_access_index));

/*
 * Returns true if the kernel has freed the task at @task and the memory is not reused. It then has
 * no references, and the kernel has cleared its credentials, both after the free event. A
 * task_struct spans pages that are reused one by one, so its counters may be overwritten while its
 * start time and signal_struct still match; the credentials lie between these two.
 */
static __always_inline bool task_is_freed(u64 task)
{
	struct task_struct___of_free *t = (void *)task;

	return !BPF_CORE_READ(t, usage.refs.counter) || !BPF_CORE_READ(t, real_cred);
}

/* exits.bpf.c */
/* Reads the counters of @task since its birth. */
__hidden void counters_read(struct task_struct *task, struct task_counters *now);
/*
 * Commits what @task has used since the last commit. Returns false if nothing was committed:
 * everything was, the task has not run since, or it has been freed.
 */
__hidden bool task_commit(u64 task, struct task_entry *t, struct process_entry *p);
/* Commits a task that has exited. Returns true if nothing is left that can be committed. */
int task_commit_exited(u64 task);
/*
 * Counts the exit of @task, and the end of its process if it is the last; each only once. @seen:
 * called from the exit hook.
 */
int task_note_exit(u64 task, u32 seen);

/* dying.bpf.c */
/* Commits the tasks that exited last and are dead by now: the kernel may free them unseen. */
int dying_commit(void);
/* Adds @task, which exits on this CPU; it is committed once it is dead. */
int dying_add(u64 task);

/* processes.bpf.c */
/*
 * Makes an entry for the process of @task unless it has one. Returns 1 if the entry is new, 0 if it
 * existed, -1 if another process's entry at this key is about to be deleted, or PROCESS_NO_ROOM.
 */
#define PROCESS_NO_ROOM (-2)
int process_make(u64 task, u64 tree, u64 cgroup, u64 image, u32 flags);
/*
 * Returns true to one caller only, which then emits the record and deletes the entry. Returns false
 * while more than @most_tasks tasks have an entry or are about to get one.
 */
#define ANY_TASKS (~0U)
__hidden bool process_begin_closing(struct process_entry *p, u64 serial, u32 most_tasks);
/*
 * Closes the process under the same condition; with ANY_TASKS if its signal_struct was reused.
 * @how: flags for its record unless its end was seen.
 */
int process_close(u64 signal, u64 serial, u32 how, u32 most_tasks);

/* entries.bpf.c */
/* There are processes with threads of which none has an entry; see process_close_last_entry(). */
extern bool entries_lack;
/* What the launched task has used so far; set before task_add() with PROCESS_LAUNCHED. */
extern struct task_counters launched_used;
/*
 * Makes an entry for @task and, if needed, for its process. Returns 0, -EEXIST if the task has one,
 * or another negative number.
 */
int task_add(u64 task, u64 tree, u64 cgroup, u64 image, u32 flags);
/* Notes that a birth hook runs for @task. Returns true if it has an entry already. */
__hidden bool task_birth_seen(u64 task);
/* Closes the entry of the task at @task that began at @start_ns and whose free event was missed. */
int task_close(u64 task, u64 start_ns);
/* Counts @task as lost: there was no room for its entry. @flags as for task_add(). */
int task_refuse(u64 task, u64 tree, u64 cgroup, u32 flags);
/*
 * Forgets that @task was refused, as it was freed or has an entry now. @at_birth: takes back the
 * loss, as no sample lacks the task.
 */
int task_refused_forget(u64 task, u32 at_birth);
/* Returns true if @task, which has no entry, may have none because there was no room. */
int task_is_refused(u64 task);
enum tracked_by { NOT_TRACKED, TRACKED_BY_BIRTH, TRACKED_BY_CGROUP };
__hidden enum tracked_by task_should_track(struct task_struct *task, struct account_key *account,
					   u64 *image);
/* Makes an entry for @task, which has none, if it has to be tracked. Returns false if not. */
int task_adopt(u64 task);

/* transfer.bpf.c */
/*
 * Moves the process to another account. @flags is 0, or those of a process that is launched or
 * attached and whose record then restarts. Returns 0, -ESRCH, or -ENOSPC if there is no room for
 * the account.
 */
int process_transfer(u64 signal, u64 serial, u64 tree, u64 cgroup, u32 flags);
/* With whole_node: moves the process of @task to the account of its current cgroup. */
int process_recount(u64 task);

/* moves.bpf.c; used only with by_cgroup */
/* Commits @task, which has left the cgroup, and closes its entry. */
int task_leave(u64 task);

/*
 * Closes the entry at @task if an earlier task left it. Inlined, as it is called deep in the call
 * chain.
 */
static __always_inline void task_close_stale(u64 task)
{
	u64 start_ns = task_find_stale(task);

	if (start_ns)
		task_close(task, start_ns);
}

/*
 * Emits the record and deletes the entry. Only for the caller to which process_begin_closing()
 * returned true. Inlined: the kernel allows eight frames, and this is called deep in the call
 * chain.
 */
static __always_inline void process_emit_and_delete(u64 signal, struct process_entry *p)
{
	if (!p->event.rec.released_boot_ns) /* either freed or no longer tracked */
		p->event.rec.released_boot_ns = boot_now();
	if (want_exact_peak)
		mm_forget(signal, p->event.rec.serial);
	/* nobody reads the record of a process that is in no run */
	if ((!whole_node || p->event.rec.account.tree) && process_emit(p))
		account_lose(p->event.rec.account.tree, p->event.rec.account.cgroup, LOSS_RECORDS,
			     1);
	process_forget(signal);
}

#endif
