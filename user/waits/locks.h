/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/locks: which file lock is held, and which task waits for it. */
#ifndef WAITS_LOCKS_H
#define WAITS_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file_lock {
	char kind[8]; /* FLOCK, POSIX, OFDLCK, LEASE */
	pid_t pid; /* the process that took it; -1: an open file has it; 0: of another PID namespace
		    */
	unsigned major, minor;
	uint64_t inode; /* as the file system has them; stat() may give others, as on btrfs */
};

/* Parses one line of /proc/locks, or of a fdinfo after "lock:". False: it is none. */
bool lock_parse(const char *line, struct file_lock *lock, bool *waits);
/*
 * The lock that @pid waits for; for locks of an open file, which have no process, @inode is that of
 * the file and @pid is -1. False: the text has none.
 */
bool locks_find(const char *text, pid_t pid, uint64_t inode, struct file_lock *held);

#endif
