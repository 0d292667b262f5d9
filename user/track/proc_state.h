/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of proc_source share: the tree that is measured from /proc, and its looks. */
#ifndef TRACK_PROC_STATE_H
#define TRACK_PROC_STATE_H

#include "base/own_children.h"
#include "track/proc_accounts.h"
#include "track/proc_clock.h"
#include "track/proc_source.h"

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
	enum proc_look kind; /* of the look that goes on */
	uint64_t pause_ns;   /* until the next look between drains */
	uint64_t look, full_ns, whole_ns, serials, nr_born;
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
};

/* One that is attached to counts from then on, as what is found later and began before. */
void proc_state_seed(struct proc_source *p, struct proc_member *m);
/* Looks at a process that may be new. */
void proc_state_look_at(struct proc_source *p, pid_t pid, proc_row_fn row, void *context);
/* Its end was not seen, unless the launcher has waited for it. */
void proc_state_report_end(struct proc_source *p, struct proc_member *m);

/* All that is known of the command, at the last look. */
struct proc_used proc_state_used(const struct proc_source *p);

#endif
