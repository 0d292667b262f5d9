/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source without BPF: measures the processes below the launcher, or those attached to, by scans
 * of /proc ("looks") and from what the launcher has reaped. It fills the rows, accounts and records
 * that BPF programs fill otherwise. Totals are exact for all that was waited for. A process that
 * ends between two scans has no record, or one without usage where the kernel reports births and
 * ends (base/proc_connector.h).
 */
#ifndef MEASURE_PROC_SOURCE_H
#define MEASURE_PROC_SOURCE_H

#include "base/reaped.h"
#include "bpfmon/shared.h"
#include "measure/accounts.h"
#include "run/metric.h"

#include <stdbool.h>
#include <stddef.h>

struct proc_source;
typedef void (*proc_row_fn)(void *context, const struct drain_row *row);
typedef int (*proc_event_fn)(void *context, void *event, size_t size);

/*
 * Returns a source for the children of @launcher, or NULL without memory. @inject_misses: see
 * struct proc_connector.
 */
struct proc_source *proc_source_new(pid_t launcher, bool wants_args, unsigned inject_misses);
void proc_source_free(struct proc_source *p);
/* Sets @usable to the metrics of @wanted that it can measure, and the reason for the others. */
void proc_source_metrics(const struct metric_set *wanted, struct metric_set *usable,
			 const char *unusable[NR_METRICS]);
/* Sets the receiver of events, which are those of the ring buffer. */
void proc_source_listen(struct proc_source *p, proc_event_fn fn, void *context);
/*
 * Makes @command the root; other present children of the launcher belong to bpfmon. Returns 0,
 * -ESRCH if it is gone, or -ENOENT if /proc is not mounted or lists no children.
 */
int proc_source_follow(struct proc_source *p, pid_t command);
/*
 * Attaches to those of @pids that exist, and their descendants. Prior usage is excluded. Returns 0,
 * also if none exists, or -ENOENT as above.
 */
int proc_source_seed(struct proc_source *p, const pid_t *pids, size_t nr);
/* Sets the prior usage and number of threads of the attached processes. */
void proc_source_baseline(const struct proc_source *p, const struct metric_set *usable,
			  uint64_t *values, struct metric_set *have);
const struct tracking *proc_source_tracking(const struct proc_source *p);
/*
 * Scans all processes of the tree and calls @row (may be NULL) for each live one. With @whole reads
 * all their files, else some only now and then. Returns 0 or a negative errno.
 */
int proc_source_drain(struct proc_source *p, bool whole, proc_row_fn row, void *context);
/*
 * Scans for births between two drains: soon after a birth, else at growing intervals, and within a
 * fiftieth of a CPU. Where the kernel reports births, scans follow these. Returns the time until
 * the next scan in ns.
 */
uint64_t proc_source_look(struct proc_source *p);
/*
 * Returns a descriptor that is readable when the kernel has reported a birth or end, or -1 if it
 * does not.
 */
int proc_source_births_fd(const struct proc_source *p);
/* Returns why births are not reported, as a clause, or NULL. */
const char *proc_source_births_missing(const struct proc_source *p);
uint64_t proc_source_births_lost(const struct proc_source *p);
/*
 * Returns true if all births into the tree were reported, so that the number of processes is exact.
 */
bool proc_source_counts_all(const struct proc_source *p);
/* Takes the totals of all that the launcher has reaped so far. */
void proc_source_note_reaped(struct proc_source *p, const struct reaped *r);
/* Reads the totals at the last drain, which never fall. Returns 0 or -ENOSPC. */
int proc_source_accounts(struct proc_source *p, struct accounts *accounts);
/*
 * Returns CPU time missing in the accounts because nothing waited for the processes; it is neither
 * user nor system time.
 */
uint64_t proc_source_unsplit(struct proc_source *p);
/*
 * Moves a live process to the account @to, which is created if needed. Returns -ESRCH if it is not
 * in the tree.
 */
int proc_source_move(struct proc_source *p, pid_t pid, const struct account_key *to);
/*
 * Removes an account without processes, except the tree's. @total is what it had. Returns -ENOENT
 * if there is none.
 */
int proc_source_remove(struct proc_source *p, const struct account_key *key, struct account *total);
/* Returns the largest high-water mark of a reaped process in bytes; 0: unknown. */
uint64_t proc_source_peak(const struct proc_source *p);
/* Returns the largest sum of memory at a scan in bytes, and its CLOCK_MONOTONIC time in @at_ns. */
uint64_t proc_source_tree_peak(const struct proc_source *p, uint64_t *at_ns);
void proc_source_each(const struct proc_source *p,
		      void (*fn)(void *context, const struct process_record *r), void *context);
/* Return the present record of the process with that key and serial, or PID; NULL: none. */
const struct process_record *proc_source_find(const struct proc_source *p, uint64_t signal,
					      uint64_t serial);
const struct process_record *proc_source_find_pid(const struct proc_source *p, pid_t pid);
/* Ends the run: calls @record for each live process and removes it. Returns their number. */
int proc_source_retire(struct proc_source *p,
		       void (*record)(void *context, const struct process_record *r),
		       void *context);
/*
 * Sets in @bounds the counters of @usable that are lower bounds: all of them for an attachment, or
 * if a process ignored SIGCHLD, because the usage of its children is in no total; I/O of calls if
 * that of a process could not be read (set-user-ID programs, or on newer kernels ended processes).
 */
void proc_source_bounds(const struct proc_source *p, const struct metric_set *usable,
			struct metric_set *bounds);

#endif
