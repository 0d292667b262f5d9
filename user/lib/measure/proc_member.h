/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process of a tree that is measured from /proc: its files, and the record and row made from
 * them.
 */
#ifndef MEASURE_PROC_MEMBER_H
#define MEASURE_PROC_MEMBER_H

#include "base/procstat.h"
#include "base/reaped.h"
#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Usage from /proc. All fields are uint64_t, so that sums can be handled as arrays. */
struct proc_used {
	uint64_t user_ns, system_ns, minflt, majflt;
	uint64_t nvcsw, nivcsw; /* of the first thread only */
	struct proc_io io;
};

void proc_used_add(struct proc_used *sum, const struct proc_used *part);
/* Subtracts modulo 2^64: a sum of terms is right in the end, in any order. */
void proc_used_subtract(struct proc_used *sum, const struct proc_used *part);
/* Subtracts @part from @u. A field that would become negative becomes 0. */
void proc_used_take(struct proc_used *u, const struct proc_used *part);
struct proc_used proc_used_least(const struct proc_used *a, const struct proc_used *b);
bool proc_used_is_zero(const struct proc_used *u);
/*
 * Raises the counters of @a, which never fall, to @u. Ignores fields that are negative modulo 2^64.
 */
void proc_used_publish(const struct proc_used *u, struct account *a);

#define PROC_STAT_BYTES 512
#define PROC_SCHED_BYTES 80

/* A look is a scan of /proc. */
enum proc_look {
	LOOK_QUICK, /* only processes that have run since; children of the first thread only */
	LOOK_FULL,  /* the same, with children of all threads */
	LOOK_WHOLE, /* all files: memory may be reclaimed from a process that does not run */
};

struct proc_member {
	struct proc_files files;
	uint64_t look;    /* number of the last scan that found it */
	uint64_t read_ns; /* CLOCK_MONOTONIC when reading it began */
	/*
	 * When reaped: CPU time of its children. Not in @stat, because these were members too at
	 * the last scan.
	 */
	uint64_t reaped_children_ns;
	bool is_reaped, is_changed; /* by the launcher; since the previous scan */
	bool io_is_refused;
	/* /proc/PID/schedstat: run time and number of runs of the first thread */
	char sched_text[PROC_SCHED_BYTES];
	char text[PROC_STAT_BYTES]; /* /proc/PID/stat at the last scan */
	struct proc_stat stat;
	struct proc_status status;
	struct proc_io io;
	struct proc_used children; /* usage of ended children that have a record */
	struct proc_used base;     /* its own usage before it was attached to */
	uint64_t base_children_ns;
	struct proc_used earlier; /* proc_member_inherited() at the previous scan */
	/* during a scan: usage that may be inherited and is counted elsewhere */
	struct proc_used debt;
	struct proc_used paid; /* the part of it that was inherited after the process was read */
	uint64_t gone_ns;      /* CLOCK_MONOTONIC when a scan missed it; 0: never */
	bool end_is_reported;  /* it may still be a zombie */
	struct process_record rec;
	struct drain_row row;
};

/* A limit of open descriptors for all members. */
struct proc_budget {
	unsigned nr_open, most;
};

/* Returns a budget of half of RLIMIT_NOFILE; the rest is for other files. */
struct proc_budget proc_budget_of_process(void);
/* Returns a process whose files have not been read, or NULL without memory. */
struct proc_member *proc_member_new(pid_t pid);
void proc_member_free(struct proc_member *m, struct proc_budget *b);
/*
 * Scans the process: sets is_changed and, if so, reads its files. A single-threaded process has
 * changed if it has run; others if their CPU time or memory has changed. Returns 0, -ESRCH if it is
 * gone, or another negative errno: it exists, and its values are those of the last scan.
 */
int proc_member_look(struct proc_member *m, enum proc_look look, struct proc_budget *b);
/* Fills record and row from the values read. */
void proc_member_fill(struct proc_member *m);
/* Excludes what it has used so far from its record. */
void proc_member_set_base(struct proc_member *m);
/* Returns what it and the children it has waited for have used since birth. */
struct proc_used proc_member_both(const struct proc_member *m);
/*
 * Returns the values that grow by a child's usage when it is waited for: those of children, and its
 * own I/O.
 */
struct proc_used proc_member_inherited(const struct proc_member *m);
/* The launcher has reaped it. */
void proc_member_note_reaped(struct proc_member *m, const struct reaped *r);
/* Completes the record of a process that is gone. */
void proc_member_end(struct proc_member *m);
/* Calls @fn for each child; with LOOK_QUICK only for those of the first thread. */
void proc_member_children(struct proc_member *m, enum proc_look look, struct proc_budget *b,
			  void (*fn)(void *context, pid_t child), void *context);

/*
 * All members in the order in which they were found, ancestors first. Usage only ever moves to an
 * ancestor, so reading in that order counts nothing twice.
 */
struct proc_members {
	struct proc_member **all; /* owned, as are the members */
	size_t nr, room;
	struct proc_member **by_pid; /* owned; hash table, NULL: free slot */
	size_t slots;
};

struct proc_member *proc_members_find(const struct proc_members *t, pid_t pid);
struct proc_member *proc_members_find_serial(const struct proc_members *t, uint64_t serial);
/*
 * Adds @m, replacing a member with the same PID in the hash table. Returns false without memory; @m
 * is then not added.
 */
bool proc_members_add(struct proc_members *t, struct proc_member *m);
/* Calls @end for each member that the scan @look did not find, and removes it. */
void proc_members_sweep(struct proc_members *t, uint64_t look,
			void (*end)(void *context, struct proc_member *m), void *context);
void proc_members_done(struct proc_members *t, struct proc_budget *b);

#endif
