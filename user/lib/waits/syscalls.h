/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls and wait channels in which a task waits, and for what. */
#ifndef WAITS_SYSCALLS_H
#define WAITS_SYSCALLS_H

#include "waits/mounts.h"
#include "waits/task.h"

enum call_kind {
	CALL_READ, /* of a descriptor: what it waits for depends on that */
	CALL_WRITE,
	CALL_ACCEPT,
	CALL_CONNECT,
	CALL_FLOCK,
	CALL_FCNTL,
	CALL_OPEN,
	CALL_FUTEX,
	CALL_CHILD,
	CALL_FORK,
	CALL_POLL,
	CALL_SELECT,
	CALL_EPOLL,
	CALL_SLEEP,
	CALL_SIGNAL,
	CALL_URING,
	CALL_IPC,
	CALL_FILE, /* of a descriptor, but for no byte of it */
	CALL_PATH,
	CALL_SPLICE, /* from one descriptor to another */
	CALL_OTHER,
};

struct call {
	long number; /* of the machine that this is compiled for */
	const char *name;
	enum call_kind kind;
	int fd_at; /* the argument that is a descriptor; -1: none; of CALL_OPEN and CALL_PATH that
		    * of a folder, after which comes the path */
};

/* The call the task waits in; NULL: none that is known here, or not readable. */
const struct call *call_of_task(const struct task_view *task);
/* Whether the call ends at a time, whatever happens. */
bool call_has_timeout(const struct task_view *task);
/* What it waits for by its channel alone; WAIT_OTHER: the channel has no certain meaning. */
enum wait_kind channel_kind(const char *channel);
/* Whether it waits in that channel for the server of a file system. */
enum mount_server channel_server(const char *channel);
/* What a channel of an uninterruptible wait is about, "the disk"; NULL: not known. */
const char *channel_disk(const char *channel);

/* What the arguments of a system call point at, in the memory of another process. */

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
