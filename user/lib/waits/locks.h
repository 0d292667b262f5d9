/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/locks: which locks and leases of files are held, and which task waits for which. */
#ifndef WAITS_LOCKS_H
#define WAITS_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file_lock {
	char kind[8]; /* FLOCK, POSIX, OFDLCK, LEASE; "": not known */
	bool writes;
	pid_t pid; /* the process that took it; -1: an open file has it; 0: of another PID namespace
		    */
	unsigned major, minor;
	uint64_t inode; /* as fdinfo has it, which stat() may not, as on btrfs; 0: not known */
	uint64_t first, last; /* its bytes; last UINT64_MAX: to the end of the file; first > last:
			       * not known */
};

/* Returns whether @held, of the same file, keeps @request from being granted. */
bool lock_conflicts(const struct file_lock *held, const struct file_lock *request);
/* Returns whether a descriptor with this fdinfo has such a lock. */
bool fdinfo_has_conflict(const char *text, const struct file_lock *request);
/*
 * Finds the request @asked, of which the pid is known (-1: an open file), and perhaps kind, inode
 * and bytes. Fills in @asked from the text, and sets @held to the lock that blocks it. Returns
 * false if the text has no such request.
 */
bool locks_find(const char *text, struct file_lock *asked, struct file_lock *held);
/* Finds the next lock that is held and conflicts with @request. Returns the text after it; NULL if
 * there is none. */
const char *locks_next_holder(const char *text, const struct file_lock *request,
			      struct file_lock *held);

#endif
