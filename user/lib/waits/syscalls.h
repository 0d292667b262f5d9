/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls and wait channels in which tasks wait, and what the arguments of a call refer
 * to; the mounts of file systems that other processes or machines serve.
 */
#ifndef WAITS_SYSCALLS_H
#define WAITS_SYSCALLS_H

#include "waits/task.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Mounts, from /proc/PID/mountinfo. */

enum mount_server {
	SERVER_NONE,
	SERVER_FUSE, /* by a process */
	SERVER_NFS,  /* by another machine, as those below */
	SERVER_SMB,
	SERVER_OTHER,
};

struct mount_view {
	uint64_t id, device; /* @device: as FUSE writes it, with the minor number in 20 bits */
	char type[32];       /* "fuse.sshfs", "nfs4" */
	char source[512];    /* "nas:/home"; any text for FUSE */
	char point[4096];
};

/* Returns what serves file systems of this type. */
enum mount_server mount_server_of(const char *type);
/* Finds the mount @id. Returns false if there is none. */
bool mount_find_id(FILE *mountinfo, uint64_t id, struct mount_view *m);
/* Finds the mount of the absolute @path; symbolic links are not followed. */
bool mount_find_path(FILE *mountinfo, const char *path, struct mount_view *m);
/* Finds the mount with such a server, if all such mounts are of one file system. */
bool mount_find_only(FILE *mountinfo, enum mount_server server, struct mount_view *m);

enum call_kind {
	CALL_READ, /* the descriptor decides what it waits for */
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
	CALL_FILE, /* waits on a descriptor, but not for its data */
	CALL_PATH,
	CALL_SPLICE, /* from one descriptor to another */
	CALL_OTHER,
};

struct call {
	long number; /* on the architecture of this build */
	const char *name;
	enum call_kind kind;
	/* index of the descriptor argument, or of the folder's, which a path follows; -1 if none */
	int fd_at;
};

/* Returns the call that the task waits in; NULL if it is not in the table, or not readable. */
const struct call *call_of_task(const struct task_view *task);
/* Returns whether the call has a timeout. */
bool call_has_timeout(const struct task_view *task);
/* Returns the kind of wait that the channel alone implies; WAIT_OTHER if it is ambiguous. */
enum wait_kind channel_kind(const char *channel);
/* Returns the type of file server that a task in the channel waits for, or SERVER_NONE. */
enum mount_server channel_server(const char *channel);
/*
 * Returns what an uninterruptible wait in the channel is for, such as "the disk"; NULL if unknown.
 */
const char *channel_disk(const char *channel);

/* Reads memory of a process. Returns whether all @bytes could be read. */
bool memory_peek(pid_t pid, uint64_t address, void *out, size_t bytes);

/* Reads the path argument of the call; absolute if the folder is readable, without dots. */
bool call_path(pid_t pid, const struct task_view *task, char *out, size_t size);

struct futex_view {
	enum wait_kind kind; /* WAIT_MUTEX, WAIT_JOIN or WAIT_FUTEX */
	pid_t tid;           /* holder of the mutex, or thread whose exit is awaited */
	pid_t pid;           /* its process */
};

/*
 * Finds what a task in futex() waits for. A holder is named only if it is alive and shares this
 * memory.
 */
void futex_look(pid_t pid, const struct task_view *task, struct futex_view *view);

/* Returns a number common to all waiters of a futex in shared memory; 0 for a private futex. */
uint64_t futex_file(pid_t pid, uint64_t address);

/*
 * Reads the descriptors of a poll, select or epoll that the task waits in; @fds gets the first
 * @room. Returns their total number.
 */
unsigned poll_descriptors(pid_t pid, const struct task_view *task, int *fds, unsigned room);

#endif
