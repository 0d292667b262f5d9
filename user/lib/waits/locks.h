/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/locks: which file locks and leases are held, and which task waits for which. */
#ifndef WAITS_LOCKS_H
#define WAITS_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file_lock {
	char kind[8]; /* FLOCK, POSIX, OFDLCK or LEASE; "" if unknown */
	bool writes;
	pid_t pid; /* owner; -1: an open file; 0: of another PID namespace */
	unsigned major, minor;
	uint64_t inode; /* as in fdinfo, which may differ from stat(), as on btrfs; 0 if unknown */
	uint64_t first, last; /* bytes; last UINT64_MAX: to the end; first > last: unknown */
};

/* Returns whether @held, of the same file, blocks @request. */
bool lock_conflicts(const struct file_lock *held, const struct file_lock *request);
/* Returns whether a descriptor with the fdinfo @text holds a lock that blocks @request. */
bool fdinfo_has_conflict(const char *text, const struct file_lock *request);
/*
 * Finds the request @asked by its pid (-1: an open file), and by kind, inode and bytes if these are
 * known. Completes @asked from the text and sets @held to the lock that blocks it. Returns false if
 * there is no such request.
 */
bool locks_find(const char *text, struct file_lock *asked, struct file_lock *held);
/*
 * Finds the next held lock that blocks @request. Returns the text after it, or NULL if there is
 * none.
 */
const char *locks_next_holder(const char *text, const struct file_lock *request,
			      struct file_lock *held);

#endif
