/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where BPF is not available: what /proc has of the processes below the launcher, and what the
 * launcher has waited for; or of those that were attached to. It fills the rows, the account and
 * the records that the programs in the kernel fill elsewhere. Exact are the totals of all that
 * anything in the tree has waited for. A process that ends between two looks has no record of its
 * own, or where the kernel reports births and ends (base/proc_connector.h) one without usage.
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

/* @launcher: whose children are the tree; @inject_misses: see struct proc_connector. NULL: out of
 * memory. */
struct proc_source *proc_source_new(pid_t launcher, bool wants_args, unsigned inject_misses);
void proc_source_free(struct proc_source *p);
/* Sets which of @wanted it has, and why it has not the others. */
void proc_source_metrics(const struct metric_set *wanted, struct metric_set *usable,
			 const char *unusable[NR_METRICS]);
/* What it finds is reported to @fn, as the ring buffer does. */
void proc_source_listen(struct proc_source *p, proc_event_fn fn, void *context);
/* Makes @command the root; the other children that the launcher has now are bpfmon's own. 0;
 * -ESRCH: it is gone; -ENOENT: /proc is not mounted, or lists no children. */
int proc_source_follow(struct proc_source *p, pid_t command);
/*
 * Or attaches to those of @pids that exist, and to what is below them: what they have used so far
 * does not count. 0, and it follows none if there is none; -ENOENT, as above.
 */
int proc_source_seed(struct proc_source *p, const pid_t *pids, size_t nr);
/* What they themselves had used, and how many threads they had. */
void proc_source_baseline(const struct proc_source *p, const struct metric_set *usable,
			  uint64_t *values, struct metric_set *have);
const struct tracking *proc_source_tracking(const struct proc_source *p);
/*
 * Looks at all processes of the tree, and calls @row for each that lives; at all their files if
 * @whole, else some of them only now and then. 0, or a negative errno.
 */
int proc_source_drain(struct proc_source *p, bool whole, proc_row_fn row, void *context);
/*
 * Looks for what was born between two drains: soon again after a birth, later and later otherwise,
 * and never for more than a fiftieth of a CPU; where the kernel reports births, after these.
 * Nanoseconds until the next look.
 */
uint64_t proc_source_look(struct proc_source *p);
/* Is ready when the kernel has reported a birth or an end; -1: it does not, or no longer. */
int proc_source_births_fd(const struct proc_source *p);
/* Why not, a clause; NULL: it does. */
const char *proc_source_births_missing(const struct proc_source *p);
/* Events that are known to be lost. */
uint64_t proc_source_births_lost(const struct proc_source *p);
/* Whether all births into the tree were reported, and the number of its processes is exact. */
bool proc_source_counts_all(const struct proc_source *p);
/* What the launcher has waited for so far. */
void proc_source_note_reaped(struct proc_source *p, const struct reaped *r);
/* The totals as of the last drain, with what was noted before it; they never fall. */
int proc_source_accounts(struct proc_source *p, struct accounts *accounts);
/* Of these: CPU time that is in no account, as nothing waits for what used it; neither user nor
 * system time. */
uint64_t proc_source_unsplit(struct proc_source *p);
/* Moves a live process to an account, which is made unless it exists. -ESRCH: it is none of these.
 */
int proc_source_move(struct proc_source *p, pid_t pid, const struct account_key *to);
/* Removes an account with no process, but for that of the tree; @total is what it had. */
int proc_source_remove(struct proc_source *p, const struct account_key *key, struct account *total);
/* The largest high-water mark of a process that has been waited for, in bytes; 0: not known. */
uint64_t proc_source_peak(const struct proc_source *p);
/* The most that all held at a look, in bytes; and CLOCK_MONOTONIC then. */
uint64_t proc_source_tree_peak(const struct proc_source *p, uint64_t *at_ns);
void proc_source_each(const struct proc_source *p,
		      void (*fn)(void *context, const struct process_record *r), void *context);
/* The record so far of the process with that key and serial, or with that PID; NULL. */
const struct process_record *proc_source_find(const struct proc_source *p, uint64_t signal,
					      uint64_t serial);
const struct process_record *proc_source_find_pid(const struct proc_source *p, pid_t pid);
/* The run is over: calls @record for each process that lives, and forgets it. How many. */
int proc_source_retire(struct proc_source *p,
		       void (*record)(void *context, const struct process_record *r),
		       void *context);
/*
 * Sets which counters of @usable are lower bounds: all of an attachment, and all if a process was
 * seen to ignore SIGCHLD, as what its children use is in no total; what calls moved, if that of a
 * process could not be read, as of a set-user-ID program, or on newer kernels of one that has
 * ended.
 */
void proc_source_bounds(const struct proc_source *p, const struct metric_set *usable,
			struct metric_set *bounds);

#endif
