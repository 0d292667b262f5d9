/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the processes that have the other end of a pipe or socket, or hold a lock of a file; and
 * /proc/locks: which file locks and leases are held, and which task waits for which.
 */
#ifndef WAITS_SCAN_H
#define WAITS_SCAN_H

#include "waits/waits.h"

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

enum end_use { END_ANY, END_READS, END_WRITES };

struct other_end {
	bool is_wanted;   /* the members below are set */
	char link[512];   /* of a descriptor in /proc/PID/fd: "pipe:[4711]", or a path */
	enum end_use use; /* required access mode of the descriptor */
	const char *key;  /* key that its fdinfo must have, "eventfd-id"; NULL for none */
	uint64_t value;   /* required value of that key */
	bool is_new_key;  /* older kernels lack the key: a single process then suffices */
	/* the waiting process itself may serve it, by another thread, and is then no peer */
	bool may_be_own;
	struct file_lock request; /* lock request that a lock of it must block; kind "" if none */
	pid_t first;              /* most likely process, examined first; 0 if unknown */
	/* descriptor to skip, whose process holds part of the lock itself; 0 if none */
	pid_t own_pid;
	int own_fd;
};

struct scan_item {
	struct wait *wait;
	struct other_end *end;
};

/* An end that was searched, and the processes that have it. */
struct found_end {
	struct other_end end;
	pid_t pid[WAIT_FOLLOWED + 1]; /* may include the waiting process */
	pid_t last;                   /* last one added */
	unsigned nr;                  /* total number of processes; @pid has the first */
	pid_t without_key; /* one with a possible match without the key; 0: none; -1: several */
	bool all_readable;
};

/* Results of the last search of the whole machine, for callers that read every second. */
struct scan_memory {
	struct found_end *found; /* owned */
	size_t nr;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};

void scan_memory_done(struct scan_memory *m);
/* Adds a process that holds what @wait waits for; each is counted once. */
void wait_add_peer(struct wait *wait, pid_t pid);
/* Adds a process to be followed that is no holder. */
void wait_follow(struct wait *wait, pid_t pid);
/* Replaces the peers and the followed processes by those of @from. */
void wait_copy_peers(struct wait *wait, const struct wait *from);
/*
 * Searches the descriptors of processes for the ends of @items: of all processes if @asked is NULL;
 * else of the @nr_asked processes and their parents, and of all others only for an end that none of
 * these has, at most once in some seconds, with the result kept in @memory. Returns 0 or -ENOMEM.
 */
int scan_ends(struct scan_item *items, size_t nr, const pid_t *asked, size_t nr_asked,
	      struct scan_memory *memory);

#endif
