/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the processes that have the other end of a pipe or socket, or an open file that is locked.
 */
#ifndef WAITS_SCAN_H
#define WAITS_SCAN_H

#include "waits/locks.h"
#include "waits/waits.h"

enum end_use { END_ANY, END_READS, END_WRITES };

struct other_end {
	bool is_wanted;   /* then: */
	char link[512];   /* of a descriptor in /proc/PID/fd: "pipe:[4711]", or a path */
	enum end_use use; /* what the descriptor must be open for */
	const char *key;  /* its fdinfo must have this, "eventfd-id"; NULL: nothing of it */
	uint64_t value;   /* and this number for it */
	bool is_new_key;  /* older kernels have no such key: then the only process will do */
	bool may_be_own;  /* it is no peer of its own: a thread of it may help, or a new process */
	struct file_lock request; /* it must have a lock that keeps this from being granted; kind
				   * "": none is needed */
	pid_t first;   /* the process that has it most likely, looked at first; 0: not known */
	pid_t own_pid; /* a descriptor that is not meant: what waits has the lock in part; 0: none
			*/
	int own_fd;
};

struct scan_item {
	struct wait *wait;
	struct other_end *end;
};

/* An end that was looked for, and those that were found to have it. */
struct found_end {
	struct other_end end;
	pid_t pid[WAIT_FOLLOWED + 1]; /* one of them may be the process that waits */
	pid_t last;                   /* that was added */
	unsigned nr;                  /* how many have it; the first are in @pid */
	pid_t without_key;            /* it has one that may be it; 0: none; -1: several */
	bool all_readable;
};

/* What the last look at the whole machine has found, for those that ask each second. */
struct scan_memory {
	struct found_end *found; /* owned */
	size_t nr;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};

void scan_memory_done(struct scan_memory *m);
/* Adds a process that holds what is waited for; each is counted once. */
void wait_add_peer(struct wait *wait, pid_t pid);
/* Adds a process that is followed without holding it. */
void wait_follow(struct wait *wait, pid_t pid);
/* Replaces the peers and the followed processes by those of @from. */
void wait_take_peers(struct wait *wait, const struct wait *from);
/*
 * Searches the descriptors of processes for the ends of @items. @asked NULL: those of all
 * processes, once. Otherwise those of the @nr_asked processes and of their parents, and of all
 * other processes only for an end that none of these has, at most once in some seconds, of which
 * @memory keeps the result. Returns 0 or -ENOMEM.
 */
int scan_ends(struct scan_item *items, size_t nr, const pid_t *asked, size_t nr_asked,
	      struct scan_memory *memory);

#endif
