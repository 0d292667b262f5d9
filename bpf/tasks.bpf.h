/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The fourth rung: how tasks and processes are tracked, from birth to release. */
#ifndef TASKS_BPF_H
#define TASKS_BPF_H

#include "memory.bpf.h"

/* In the order of the ladder: a file uses functions of the files above it, none of those below. */

/* exits.bpf.c */
/* What @task has used since its birth. */
__hidden void counters_read(struct task_struct *task, struct task_counters *now);
/* Commits what @task has used since the last commit. Its task_struct may have been freed. False:
 * nothing was read, as all is committed or it has not run since; or it is another task by now. */
__hidden bool task_commit(u64 task, struct task_entry *t, struct process_entry *p);
/* The same for a task that has exited. True: nothing is left to commit. */
int task_commit_exited(u64 task);
/*
 * True for a task that ended so long ago that it must have been freed: the event was missed. Its
 * task_struct cannot tell, as freed memory may keep what it held.
 */
int task_is_forgotten(u64 task);
/* @task has exited: counted once, and once for its process. @seen: this is the exit hook. */
int task_note_exit(u64 task, u32 seen);

/* processes.bpf.c */
/* Makes an entry for the process of @task unless it has one; for the results see there. */
#define PROCESS_NO_ROOM (-2)
int process_make(u64 task, u64 tree, u64 cgroup, u64 image, u32 flags);
/* True for one caller only, which then emits the record of the process and deletes its entry. */
__hidden bool process_begin_closing(struct process_entry *p, u64 serial);
/* The process has no task left. @how: flags for its record unless its end was seen. */
int process_close(u64 signal, u64 serial, u32 how);

/* entries.bpf.c */
/* What the task that is launched has used before; set before task_add() with PROCESS_LAUNCHED. */
extern struct task_counters launched_used;
/* Makes an entry for @task and, if it has none, for its process. Idempotent. */
int task_add(u64 task, u64 tree, u64 cgroup, u64 image, u32 flags);
/* A hook of the birth of @task runs. True: it has an entry already. */
__hidden bool task_birth_seen(u64 task);
/* The free event of the task that was at @task and began at @start_ns was missed: closes its entry.
 */
int task_close(u64 task, u64 start_ns);
/* There was no room for an entry of @task, which was to be followed; @flags as of task_add(). */
int task_refuse(u64 task, u64 tree, u64 cgroup, u32 flags);
/* It has been freed, or has an entry now; @at_birth: before any sample, thus without a loss. */
int task_refused_forget(u64 task, u32 at_birth);
enum tracked_by { NOT_TRACKED, TRACKED_BY_BIRTH, TRACKED_BY_CGROUP };
__hidden enum tracked_by task_should_track(struct task_struct *task, struct account_key *account,
					   u64 *image);
/* Makes an entry for @task, which has none, if it is to be followed. False: it is not. */
int task_adopt(u64 task);

/* transfer.bpf.c */
/*
 * Moves the process to another account. @flags: of a process that is launched or attached to, whose
 * record then begins anew; or 0. 0; -ESRCH; -ENOSPC: there is no room for another account.
 */
int process_transfer(u64 signal, u64 serial, u64 tree, u64 cgroup, u32 flags);
/* With whole_node: accounts the process of @task to the cgroup that it is in now. */
int process_recount(u64 task);

/* moves.bpf.c; only with by_cgroup */
/* @task, which has an entry, is no longer in the cgroup: commits it and closes the entry. */
int task_leave(u64 task);

/*
 * Closes the entry at @task unless it is of the task that is there now. Inlined, as this is called
 * deep in the call chain.
 */
static __always_inline void task_close_stale(u64 task)
{
	u64 start_ns = task_find_stale(task);

	if (start_ns)
		task_close(task, start_ns);
}

/*
 * For the caller that process_begin_closing() returned true to. Inlined: the kernel allows eight
 * frames, and this is called deep in the call chain.
 */
static __always_inline void process_emit_and_delete(u64 signal, struct process_entry *p)
{
	if (!p->event.rec.released_boot_ns) /* by now it is free, or not followed */
		p->event.rec.released_boot_ns = boot_now();
	if (want_exact_peak)
		mm_forget(signal, p->event.rec.serial);
	/* of no run: it is not read */
	if ((!whole_node || p->event.rec.account.tree) && process_emit(p))
		account_lose(p->event.rec.account.tree, p->event.rec.account.cgroup, LOSS_RECORDS,
			     1);
	process_forget(signal);
}

#endif
