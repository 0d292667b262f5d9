/* SPDX-License-Identifier: BSD-2-Clause */
/* A process of the tree, as /proc had it when it was seen last, and its record and row of that. */
#ifndef TRACK_PROC_MEMBER_H
#define TRACK_PROC_MEMBER_H

#include "base/reaped.h"
#include "bpfmon/shared.h"
#include "track/proc_children.h"

#include <stddef.h>

#define STAT_BYTES 512

/* A process of the tree, as it was last seen. */
struct member {
	pid_t pid;
	uint64_t start_ns;
	uint64_t look; /* number of the last look that has met it */
	bool is_reaped;
	int stat_fd;           /* owned; -1: it is not kept open */
	char text[STAT_BYTES]; /* what that had at the last look */
	struct proc_stat stat;
	struct proc_io io;
	struct proc_children children;
	struct process_record rec;
	struct drain_row row;
};

struct members {
	struct member *all; /* owned */
	size_t nr, room;
};

/* The one with that PID; NULL. They are in the order of their PIDs after members_sort(). */
struct member *members_find(const struct members *m, pid_t pid);
/* A new one at the end, of zeros. NULL without memory. */
struct member *members_put(struct members *m);
void members_sort(struct members *m);

/* Its record and its row, of what was read of it. */
void member_fill(struct member *m, const struct proc_status *status);
/* The launcher has waited for it. */
void member_note_reaped(struct member *m, const struct reaped *r);
/* Nothing more will be seen of it: completes its record. */
void member_note_end(struct member *m);

#endif
