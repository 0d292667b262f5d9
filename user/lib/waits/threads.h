/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a process, and which of them says most about it. */
#ifndef WAITS_THREADS_H
#define WAITS_THREADS_H

#include "waits/waits_memory.h"
#include "waits/task.h"

#include <stddef.h>

#define MAX_THREADS 128 /* that are looked at */

struct thread_view {
	struct task_view task;
	enum wait_kind kind;
	struct futex_view futex; /* WAIT_FUTEX: what is found about it */
};

/* Reads up to MAX_THREADS, the main thread first where it lives. How many. */
size_t threads_read(struct wait *wait, struct thread_view *threads);
/*
 * The one that is to be named. Sets of @wait what needs the others: alike, is_deadlock,
 * holder_kind.
 */
struct thread_view *thread_choose(struct wait *wait, struct thread_view *threads, size_t nr);

#endif
