/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All ways in which a process may go on, by any of its threads: by itself, by something outside, or
 * only by other processes.
 */
#ifndef WAITS_WAYS_H
#define WAITS_WAYS_H

#include "waits/look.h"
#include "waits/threads.h"

/* What one thread waits for, or one descriptor of its poll. */
struct way {
	struct wait wait;
	struct other_end end;
	bool is_poll;
};

/* Of one process, until other processes have been searched for what its threads wait for. */
struct way_list {
	struct way *at; /* owned */
	size_t nr, room;
};

void way_list_done(struct way_list *list);
/*
 * Looks at all threads of @wait, of which @chosen is named. Sets out and is_fed of @wait; what only
 * other processes end is added to @list. 0 or -ENOMEM.
 */
int ways_look(struct look *look, struct wait *wait, struct way_list *list,
	      const struct thread_view *threads, size_t nr, const struct thread_view *chosen);
/* After scan_ends(): sets the ways of @wait. */
void ways_finish(struct wait *wait, const struct way_list *list);

#endif
