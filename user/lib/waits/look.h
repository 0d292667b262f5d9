/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks at one process: its most telling thread, and what that waits for. */
#ifndef WAITS_LOOK_H
#define WAITS_LOOK_H

#include "waits/scan.h"
#include "waits/sockets.h"
#include "waits/task.h"

/* What is read once for all processes that are asked about. */
struct look {
	struct net_tables net;
	char *locks; /* /proc/locks; owned; NULL: not read yet */
};

void look_done(struct look *look);
struct way_list;

/*
 * Fills @wait, whose pid is set; @end: what is still to be looked for in other processes. @ways:
 * the same of all its threads; NULL: they are not asked for. 0 or -ENOMEM.
 */
int look_at(struct look *look, struct wait *wait, struct other_end *end, struct way_list *ways);
/* Finds what the thread @task of @wait waits for, of which only the kind was known. */
void detail_look(struct look *look, struct wait *wait, struct other_end *end,
		 const struct task_view *task);
/* Returns the kind of wait of the thread, without its detail. */
enum wait_kind detail_kind(const struct task_view *task);
/* Returns the word for an end without a name. */
const char *other_end_word(const struct wait *wait, const struct other_end *end);

/* Whether the file that @task waits for is of a file server or of FUSE: then that, its mount, and
 * @end the process that serves it. */
void server_look(struct wait *wait, struct other_end *end, const struct task_view *task);

/*
 * What a read (or a write) of the descriptor waits for. WAIT_OTHER: it cannot be looked at. Sets
 * object and @end.
 */
enum wait_kind descriptor_look(struct look *look, struct wait *wait, struct other_end *end, int fd,
			       bool writes);

/*
 * Which of these, which are ready to run, are throttled; with any of them below a CPU quota it
 * takes two of its periods, 0.2 s as a rule.
 */
void throttles_look(struct wait **waits, size_t nr);

/* Sets WAIT_FROZEN if the cgroup of the process, or one above it, is frozen; that is the object. */
void freezer_look(struct wait *wait);
/* Sets the signal that has stopped the process, and the terminal if it is in its background. */
void stop_look(struct wait *wait, const struct task_view *task);

/* Adds the children that a thread waits for as peers. */
void children_look(struct wait *wait, const struct task_view *task);
/* Makes the wait of a shell or make for SIGCHLD a wait for its children. */
void children_look_signalled(struct wait *wait, struct other_end *end,
			     const struct task_view *task);
/* Follows the children of a process that polls and is woken by SIGCHLD, such as sudo. */
void children_follow(struct wait *wait);
/* Makes the poll of bpfmon itself a wait for its command. */
void launcher_look(struct wait *wait, struct other_end *end);

/* A way in which a process may go on: the wait of one thread, or one descriptor of its poll. */
struct way {
	struct wait wait;
	struct other_end end;
	bool is_poll;
};

/* The ways of one process that only other processes end, until these have been searched. */
struct way_list {
	struct way *at; /* owned */
	size_t nr, room;
};

void way_list_done(struct way_list *list);
/* After scan_ends(): sets the ways of @wait. */
void ways_finish(struct wait *wait, const struct way_list *list);

#endif
