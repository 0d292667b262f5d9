/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of proc_source share: the tree that is measured from /proc, and its looks. */
#ifndef MEASURE_PROC_STATE_H
#define MEASURE_PROC_STATE_H

#include "base/reaped.h"
#include "base/proc_connector.h"
#include "measure/born.h"
#include "measure/proc_accounts.h"
#include "measure/proc_clock.h"
#include "measure/proc_source.h"

/* What the kernel reports of births and ends, where it does so. */
struct proc_births {
	struct proc_connector from;
	struct born_set live;
	pid_t *pending; /* owned; no look has been at these, in the order in which they were born */
	size_t nr_pending, room_pending;
	bool is_on;    /* there is a tree */
	bool has_exec; /* a process that a look has seen has another image */
	bool is_exact; /* nothing was lost since there is a tree */
	uint64_t lost;
	unsigned nr_late;    /* records that wait for how the process ended */
	const char *missing; /* why it is not reported; NULL: it is */
	uint64_t boot_less_monotonic_ns;
	uint64_t since_ns, spent_ns; /* CLOCK_MONOTONIC; CPU time since then, for events */
	uint64_t own_ns;             /* and for ends in the tree */
};

struct proc_source {
	pid_t launcher;
	pid_t command;           /* 0: attached to what runs */
	struct own_children own; /* the launcher's children that are not of the tree */
	bool wants_args, misses_children, misses_io;
	bool awaits_exec; /* the command is a copy of the launcher still */
	proc_event_fn event;
	void *context;
	struct proc_files of_launcher;
	struct proc_members members;
	struct proc_budget budget;
	pid_t *stack; /* owned; children that are still to be looked at */
	size_t nr_stack, room_stack;
	bool lacks_memory;
	enum proc_look kind;          /* of the look that goes on */
	uint64_t peak_pages, peak_ns; /* the most that all held at a look; CLOCK_MONOTONIC */
	uint64_t pause_ns;            /* until the next look between drains */
	uint64_t look, full_ns, whole_ns, serials, nr_born, nr_looked_born;
	struct reaped reaped, reaped_by_now; /* as of the last look; and what came after it */
	struct proc_io seen,
		seen_by_now;           /* of those the last of which the launcher could not read */
	struct proc_accounts accounts; /* that of the tree is the first */
	struct account run;            /* of a command: the sum of all, as it was published last */
	struct account removed;        /* the sum of those that were removed */
	struct proc_clock clock;       /* once what children used may be in no total */
	uint64_t seeded_boot_ns;       /* what is older had run before */
	struct proc_used baseline;     /* of that: what the processes themselves had used */
	bool baseline_lacks_io, is_seeding, has_moved; /* the last: a process to another account */
	struct tracking tracking;
	struct proc_births births;
	uint64_t due_ns, drained_ns; /* CLOCK_MONOTONIC: no look between drains before; the last */
};

/* One that is attached to counts from then on, as what is found later and began before. */
void proc_state_seed(struct proc_source *p, struct proc_member *m);
/* Looks at a process that may be new. */
void proc_state_look_at(struct proc_source *p, pid_t pid, proc_row_fn row, void *context);
/* A process has ended: its record. */
void proc_state_report(struct proc_source *p, const struct process_record *r);
/* The same. Its end was not seen, unless the launcher has waited for it or the kernel reports it.
 */
void proc_state_report_end(struct proc_source *p, struct proc_member *m);
/* Looks at one whose birth was reported, if it is still there. */
void proc_state_look_at_born(struct proc_source *p, const struct born *b, proc_row_fn row,
			     void *context);
/* Looks at a known process. */
void proc_state_look_at_member(struct proc_source *p, struct proc_member *m, proc_row_fn row,
			       void *context);
/* Appends a process to those to look at next; @context: the source. */
void proc_state_push(void *context, pid_t pid);
/* Returns true if the process has executed another image since @m was read. */
static inline bool born_has_later_image(const struct born *b, const struct proc_member *m)
{
	return b->exec_ns > m->read_ns;
}

/* Completes the record of @m with what the kernel has reported about @b. */
void proc_state_take_born(struct proc_member *m, const struct born *b);

void proc_births_open(struct proc_source *p, unsigned inject_misses);
/* From now on events of the tree count, which are those of its members and of @command, if any. */
void proc_births_begin(struct proc_source *p, pid_t command);
/* Takes what the kernel has reported since. */
void proc_births_receive(struct proc_source *p);
/* The same, and waits a little for the ends of what is gone. */
void proc_births_settle(struct proc_source *p);
/* Reports those records that have waited for longer than @ns. */
void proc_births_expire(struct proc_source *p, uint64_t ns);
/* Completes a record with what was reported of its process. */
void proc_state_complete(const struct proc_source *p, struct proc_member *m);
/* The run ends: makes a record of each that lives and that no look has seen. */
void proc_births_end(struct proc_source *p,
		     void (*record)(void *context, const struct process_record *r), void *context);

/* All that is known of the command, at the last look. */
struct proc_used proc_state_used(const struct proc_source *p);

#endif
