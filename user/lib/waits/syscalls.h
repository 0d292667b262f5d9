/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls and wait channels in which tasks wait, and what the arguments of a call refer
 * to. */
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

/* Returns the call that the task waits in; NULL if it is not in the table, or not readable. */
const struct call *call_of_task(const struct task_view *task);
/* Returns whether the call has a timeout. */
bool call_has_timeout(const struct task_view *task);
/* Returns the kind of the wait by its channel alone; WAIT_OTHER if the channel has no certain
 * meaning. */
enum wait_kind channel_kind(const char *channel);
/* Returns which server of a file system is waited for in the channel, or SERVER_NONE. */
enum mount_server channel_server(const char *channel);
/* Returns what an uninterruptible wait in the channel is about, "the disk"; NULL if not known. */
const char *channel_disk(const char *channel);

/* Reads the memory of a process. Returns whether all of @bytes could be read. */
bool memory_peek(pid_t pid, uint64_t address, void *out, size_t bytes);

/* Reads the path argument of the call: absolute if the folder may be read, without dots. */
bool call_path(pid_t pid, const struct task_view *task, char *out, size_t size);

struct futex_view {
	enum wait_kind kind; /* WAIT_MUTEX, WAIT_JOIN or WAIT_FUTEX */
	pid_t tid;           /* the thread that has the mutex, or whose end is waited for */
	pid_t pid;           /* its process */
};

/* Finds what a task in futex() waits for. A holder is named only if a thread with this memory is
 * alive. */
void futex_look(pid_t pid, const struct task_view *task, struct futex_view *view);

/* Returns a number that is the same for all waiters of a futex in shared memory; 0 if it is
 * private. */
uint64_t futex_file(pid_t pid, uint64_t address);

/* Reads the descriptors that the task waits for in poll, select or epoll, the first @room of them
 * into @fds. Returns how many there are. */
unsigned poll_descriptors(pid_t pid, const struct task_view *task, int *fds, unsigned room);

#endif
