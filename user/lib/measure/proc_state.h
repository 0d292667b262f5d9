/* SPDX-License-Identifier: BSD-2-Clause */
/* State shared by the files of proc_source: the tree that is measured from /proc. */
#ifndef MEASURE_PROC_STATE_H
#define MEASURE_PROC_STATE_H

#include "base/reaped.h"
#include "base/proc_connector.h"
#include "measure/born.h"
#include "measure/proc_accounts.h"
#include "measure/proc_source.h"
#include "measure/proc_member.h"

/*
 * CPU time by the kernel's task clock (perf events), of live tasks and all that they start later,
 * whether anything waits for these or not. The kernel reads a clock at each switch between such
 * tasks, so this is only for trees whose CPU time is not known otherwise.
 */

struct proc_clock {
	bool is_tried;
	int *fds; /* owned; one per task */
	size_t nr;
	uint64_t before_ns; /* CPU time of the tree when the events were opened */
	/* interrupt and steal time since boot then, less what its sums may have rounded off */
	uint64_t taken_ns;
	uint64_t most_ns; /* the largest result so far; results never fall */
};

/*
 * Opens events for the tasks that the last scan found, ancestors first. Counts nothing where an
 * ordinary user may not (kernel.perf_event_paranoid, a seccomp filter). @before_ns: what the tree
 * has used so far.
 */
void proc_clock_open(struct proc_clock *c, const struct proc_members *members, uint64_t before_ns,
		     struct proc_budget *b);
/*
 * Returns a lower bound of the tree's CPU time, or 0 if unknown. It lacks the time for tearing down
 * a process (on Linux 6.18 the event ends before the memory is freed), and that of programs the
 * user may not trace (set-user-ID), at which the kernel ends the event.
 */
uint64_t proc_clock_read(struct proc_clock *c);
void proc_clock_done(struct proc_clock *c);

/* Births and ends reported by the kernel (process connector). */
struct proc_births {
	struct proc_connector from;
	struct born_set live;
	pid_t *pending; /* owned; PIDs not scanned yet, in order of birth */
	size_t nr_pending, room_pending;
	bool is_on;    /* there is a tree */
	bool has_exec; /* a scanned process has executed another image */
	bool is_exact; /* no event was lost since there is a tree */
	uint64_t lost;
	unsigned nr_late;    /* records waiting for the exit status */
	const char *missing; /* why events are not reported; NULL: they are */
	uint64_t boot_less_monotonic_ns;
	uint64_t since_ns, spent_ns; /* CLOCK_MONOTONIC; CPU time spent on events since */
	uint64_t own_ns;             /* CPU time spent on ends in the tree since */
};

struct proc_source {
	pid_t launcher;
	pid_t command;           /* 0: attached to running processes */
	struct own_children own; /* children of the launcher that belong to bpfmon */
	bool wants_args, misses_children, misses_io;
	bool awaits_exec; /* the command has not executed yet: it is a copy of the launcher */
	proc_event_fn event;
	void *context;
	struct proc_files of_launcher;
	struct proc_members members;
	struct proc_budget budget;
	pid_t *stack; /* owned; children to be scanned */
	size_t nr_stack, room_stack;
	bool lacks_memory;
	enum proc_look kind;          /* of the present scan */
	uint64_t peak_pages, peak_ns; /* largest sum of memory at a scan; CLOCK_MONOTONIC */
	uint64_t pause_ns;            /* until the next scan between drains */
	uint64_t look, full_ns, whole_ns, serials, nr_born, nr_looked_born;
	struct reaped reaped, reaped_by_now; /* as of the last scan; as of now */
	struct proc_io seen,
		seen_by_now; /* I/O of reaped processes that the launcher could not read */
	struct proc_accounts accounts; /* the first is the tree's */
	struct account run;            /* for a command: the published sum of all accounts */
	struct account removed;        /* sum of the removed accounts */
	struct proc_clock clock;       /* open once usage of children may be in no total */
	uint64_t seeded_boot_ns;       /* CLOCK_BOOTTIME; older processes have prior usage */
	struct proc_used baseline;     /* prior usage of these */
	/* has_moved: a process was moved to another account */
	bool baseline_lacks_io, is_seeding, has_moved;
	struct tracking tracking;
	struct proc_births births;
	/* CLOCK_MONOTONIC: no scan between drains before due_ns; the last drain */
	uint64_t due_ns, drained_ns;
};

/* Counts the process from now on only. For attached ones, and older ones found later. */
void proc_state_seed(struct proc_source *p, struct proc_member *m);
/* Scans a process that may be new. */
void proc_state_look_at(struct proc_source *p, pid_t pid, proc_row_fn row, void *context);
void proc_state_report(struct proc_source *p, const struct process_record *r);
/*
 * Completes and reports the record of a member that has ended. Its end was not seen, unless the
 * launcher has reaped it or the kernel reports it.
 */
void proc_state_report_end(struct proc_source *p, struct proc_member *m);
/* Scans a process whose birth was reported, if it still exists. */
void proc_state_look_at_born(struct proc_source *p, const struct born *b, proc_row_fn row,
			     void *context);
void proc_state_look_at_member(struct proc_source *p, struct proc_member *m, proc_row_fn row,
			       void *context);
/* Appends a PID to the stack of processes to scan. @context is the source. */
void proc_state_push(void *context, pid_t pid);
/* Returns true if the process has executed another image since @m was read. */
static inline bool born_has_later_image(const struct born *b, const struct proc_member *m)
{
	return b->exec_ns > m->read_ns;
}

/* Completes the record of @m with reported events. */
void proc_state_take_born(struct proc_member *m, const struct born *b);

void proc_births_open(struct proc_source *p, unsigned inject_misses);
/* From now on, events of the tree count: of its members and of @command (may be 0). */
void proc_births_begin(struct proc_source *p, pid_t command);
/* Receives the events reported since the last call. */
void proc_births_receive(struct proc_source *p);
/* Receives events and waits briefly for the ends of processes that are gone. */
void proc_births_settle(struct proc_source *p);
/* Reports the records that have waited for longer than @ns. */
void proc_births_expire(struct proc_source *p, uint64_t ns);
void proc_state_complete(const struct proc_source *p, struct proc_member *m);
/* Ends the run: makes a record of each live process that was never scanned. */
void proc_births_end(struct proc_source *p,
		     void (*record)(void *context, const struct process_record *r), void *context);

/* Returns the usage of the command's tree at the last scan. */
struct proc_used proc_state_used(const struct proc_source *p);

#endif
