/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live processes of a tree according to kernel events (process connector): a hash table by PID.
 */
#ifndef MEASURE_BORN_H
#define MEASURE_BORN_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct born {
	pid_t pid, parent;
	bool is_seen;   /* a scan of /proc has found and counted it */
	bool has_birth; /* its birth was reported */
	/* live threads; 0: unknown, because the process is older than the events */
	unsigned threads;
	unsigned threads_total, execs;
	uint64_t start_boot_ns;
	uint64_t exec_ns; /* CLOCK_MONOTONIC of its last exec; 0: none reported */
	/* threads killed by its last exec, whose exit events may still come */
	unsigned nr_killed;
	struct born_codes {
		/* the first thread has ended; others have ended after it */
		bool of_first, of_others;
		bool is_unsure; /* threads ended with different codes */
		/* wait statuses of the first and the last thread that ended */
		uint32_t first, last;
	} end;
	uint32_t uid;
	uint64_t image; /* image, comm and account as in process_record */
	char comm[COMM_BYTES];
	struct account_key account;
	/* owned; record of a process that is gone, until its end is reported */
	struct process_record *late;
	uint64_t late_ns; /* CLOCK_MONOTONIC since when @late waits */
};

struct born_set {
	struct born *all; /* owned; a PID of 0 marks a free slot */
	size_t nr, slots;
};

/* Returns the entry of @pid, or NULL. It is valid until the set is changed. */
struct born *born_find(const struct born_set *t, pid_t pid);
/* Adds an entry for @pid, which must not have one. Returns NULL without memory. */
struct born *born_add(struct born_set *t, pid_t pid);
/* Records that a thread has ended with the wait status @code. */
void born_note_exit(struct born *b, bool is_first, uint32_t code);
/* Records an exec, which ends all other threads. */
void born_note_exec(struct born *b);
/*
 * Called when the last thread has ended: stores the wait status of the process. Returns false if
 * the status is uncertain.
 */
bool born_status(const struct born *b, uint32_t *status);
void born_remove(struct born_set *t, pid_t pid);
void born_done(struct born_set *t);

#endif
