/* SPDX-License-Identifier: BSD-2-Clause */
/* A process of a tree that is measured from /proc: its files, and the record and row made of them.
 */
#ifndef MEASURE_PROC_MEMBER_H
#define MEASURE_PROC_MEMBER_H

#include "base/procstat.h"
#include "base/reaped.h"
#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What processes have used, as /proc has it: sums that are moved about and subtracted. */

/* The fields are all uint64_t. */
struct proc_used {
	uint64_t user_ns, system_ns, minflt, majflt;
	uint64_t nvcsw, nivcsw; /* of first threads alone */
	struct proc_io io;
};

void proc_used_add(struct proc_used *sum, const struct proc_used *part);
/* Subtracts modulo 2^64: a sum of terms in any order is right in the end. */
void proc_used_subtract(struct proc_used *sum, const struct proc_used *part);
/* Takes @part from @u, whose fields do not fall below 0. */
void proc_used_take(struct proc_used *u, const struct proc_used *part);
/* The less of both, field by field. */
struct proc_used proc_used_least(const struct proc_used *a, const struct proc_used *b);
bool proc_used_is_zero(const struct proc_used *u);
/* Raises the counters of an account, which never fall; a field of @u that is negative, modulo 2^64,
 * is none. */
void proc_used_publish(const struct proc_used *u, struct account *a);

#define PROC_STAT_BYTES 512
#define PROC_SCHED_BYTES 80

enum proc_look {
	LOOK_QUICK, /* at what has run since the look before; of several threads not all children */
	LOOK_FULL,  /* the same with all children */
	LOOK_WHOLE, /* at all files, as memory may be taken from a process that does not run */
};

struct proc_member {
	struct proc_files files;
	uint64_t look;    /* number of the last look that has met it */
	uint64_t read_ns; /* CLOCK_MONOTONIC, when that began */
	/* Once it is reaped. Not in @stat: as of the last look these are members as well. */
	uint64_t reaped_children_ns;
	bool is_reaped, is_changed; /* by the launcher; since the look before */
	bool io_is_refused;
	char sched_text[PROC_SCHED_BYTES]; /* how often and for how long its first thread ran */
	char text[PROC_STAT_BYTES];        /* of the file stat at the last look */
	struct proc_stat stat;
	struct proc_status status;
	struct proc_io io;
	struct proc_used children; /* of those that have ended and have a record */
	struct proc_used base;     /* what it had used itself before it was attached to */
	uint64_t base_children_ns;
	struct proc_used earlier; /* proc_member_inherited() at the look before */
	struct proc_used debt;    /* in a look: what may come back to it that counts elsewhere */
	struct proc_used paid;    /* of that: what came back after it was read in the last look */
	uint64_t gone_ns;         /* CLOCK_MONOTONIC, when a look found it gone; 0: none did */
	bool is_told;             /* its end was reported; it may be a zombie still */
	struct process_record rec;
	struct drain_row row;
};

/* Descriptors of all members. */
struct proc_budget {
	unsigned nr_open, most;
};

/* This process opens other files as well. */
struct proc_budget proc_budget_of_process(void);
/* A new one, whose files are not read yet. NULL: out of memory. */
struct proc_member *proc_member_new(pid_t pid);
void proc_member_free(struct proc_member *m, struct proc_budget *b);
/*
 * Looks at it: sets is_changed, and reads its files if so. One with a single thread has changed if
 * that has run; one with more if it has used CPU time or memory. 0; -ESRCH: it is gone; or another
 * negative errno: it is there, and is what it was at the last look.
 */
int proc_member_look(struct proc_member *m, enum proc_look look, struct proc_budget *b);
/* Makes record and row of what was read. */
void proc_member_fill(struct proc_member *m);
/* What it has used so far is not in its record. */
void proc_member_set_base(struct proc_member *m);
/* What it and those that it has waited for have used since they were born. */
struct proc_used proc_member_both(const struct proc_member *m);
/* What grows by all that a child has used when it is waited for: that of children, and its I/O. */
struct proc_used proc_member_inherited(const struct proc_member *m);
/* The launcher has waited for it. */
void proc_member_note_reaped(struct proc_member *m, const struct reaped *r);
/* Nothing more will be seen of it: completes its record. */
void proc_member_end(struct proc_member *m);
/* Calls @fn for each of its children; in a quick look only for those of its first thread. */
void proc_member_children(struct proc_member *m, enum proc_look look, struct proc_budget *b,
			  void (*fn)(void *context, pid_t child), void *context);

/*
 * All members: in the order in which they were found, which has ancestors first. What a process has
 * used only ever moves to an ancestor, so a look in that order counts nothing twice.
 */
struct proc_members {
	struct proc_member **all; /* owned, as are they */
	size_t nr, room;
	struct proc_member **by_pid; /* owned; a hash table, NULL where nothing is */
	size_t slots;
};

struct proc_member *proc_members_find(const struct proc_members *t, pid_t pid);
struct proc_member *proc_members_find_serial(const struct proc_members *t, uint64_t serial);
/* In place of one that had the PID before. False: out of memory; @m is not in it. */
bool proc_members_add(struct proc_members *t, struct proc_member *m);
/* Calls @end for each that the look with that number has not met, and forgets it. */
void proc_members_sweep(struct proc_members *t, uint64_t look,
			void (*end)(void *context, struct proc_member *m), void *context);
void proc_members_done(struct proc_members *t, struct proc_budget *b);

#endif
