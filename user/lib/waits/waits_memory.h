/* SPDX-License-Identifier: BSD-2-Clause */
/* What the arguments of a system call point at, in the memory of another process. */
#ifndef WAITS_WAITS_MEMORY_H
#define WAITS_WAITS_MEMORY_H

#include "waits/task.h"

/* Whether all of @bytes could be read. */
bool memory_peek(pid_t pid, uint64_t address, void *out, size_t bytes);

/* The path that the task's call is about, absolute if the folder may be read, without dots. */
bool call_path(pid_t pid, const struct task_view *task, char *out, size_t size);

struct futex_view {
	enum wait_kind kind; /* WAIT_MUTEX, WAIT_JOIN or WAIT_FUTEX */
	pid_t tid;           /* the thread that has the mutex, or whose end is waited for */
	pid_t pid;           /* its process */
};

/* What a task waits for in futex(). A holder is named only where a thread that has this memory
 * lives. */
void futex_look(pid_t pid, const struct task_view *task, struct futex_view *view);

/* A number that all have who wait for the same futex of shared memory; 0: it is not shared. */
uint64_t futex_file(pid_t pid, uint64_t address);

/* The descriptors that the task waits for in poll, select or epoll: how many, the first @room in
 * @fds. */
unsigned poll_descriptors(pid_t pid, const struct task_view *task, int *fds, unsigned room);

#endif
