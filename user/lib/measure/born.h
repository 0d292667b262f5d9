/* SPDX-License-Identifier: BSD-2-Clause */
/* The live processes of a tree, as the events of the kernel have them: a hash table by PID. */
#ifndef MEASURE_BORN_H
#define MEASURE_BORN_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct born {
	pid_t pid, parent;
	bool is_seen;     /* by a look, which counts it */
	bool has_birth;   /* its birth was reported */
	unsigned threads; /* that live; 0: not known, as what was there before is not */
	unsigned threads_total, execs;
	uint64_t start_boot_ns;
	uint64_t exec_ns; /* CLOCK_MONOTONIC, of its last exec; 0: none was reported */
	unsigned
		nr_killed; /* threads that its last exec has killed: their ends may come after it */
	struct born_codes {
		bool of_first, of_others; /* threads that have ended, the others after the first */
		bool is_unsure;           /* they ended in different ways */
		uint32_t first, last;     /* as wait(2) gives it */
	} end;
	uint32_t uid;
	uint64_t image; /* as in its record, as is: */
	char comm[COMM_BYTES];
	struct account_key account;
	struct process_record
		*late;    /* owned; what a look has found gone, its end not reported yet */
	uint64_t late_ns; /* CLOCK_MONOTONIC, since when */
};

struct born_set {
	struct born *all; /* owned; where the PID is 0 nothing is */
	size_t nr, slots;
};

/* NULL: there is none. Valid until the set is changed. */
struct born *born_find(const struct born_set *t, pid_t pid);
/* A new one, of a PID that is not there. NULL: out of memory. */
struct born *born_add(struct born_set *t, pid_t pid);
/* A thread has ended with @code, as wait(2) gives it. */
void born_note_exit(struct born *b, bool is_first, uint32_t code);
/* It has executed a program, which ends its other threads. */
void born_note_exec(struct born *b);
/* How the process has ended when its last thread has; false: that is not sure. */
bool born_status(const struct born *b, uint32_t *status);
void born_remove(struct born_set *t, pid_t pid);
void born_done(struct born_set *t);

#endif
