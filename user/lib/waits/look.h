/* SPDX-License-Identifier: BSD-2-Clause */
/* Examines one process: its most significant thread, and what that waits for. */
#ifndef WAITS_LOOK_H
#define WAITS_LOOK_H

#include "waits/scan.h"
#include "waits/sockets.h"
#include "waits/task.h"

/* Data read once for all processes examined. */
struct look {
	struct net_tables net;
	char *locks; /* /proc/locks; owned; NULL until read */
};

void look_done(struct look *look);
struct way_list;

/*
 * Fills @wait, whose pid is set, and @end with what is to be searched in other processes. @ways
 * gets the same for all threads, unless it is NULL. Returns 0 or -ENOMEM.
 */
int look_at(struct look *look, struct wait *wait, struct other_end *end, struct way_list *ways);
/* Finds what the thread @task of @wait waits for, after its kind is known. */
void detail_look(struct look *look, struct wait *wait, struct other_end *end,
		 const struct task_view *task);
/* Returns the kind of wait of the thread, without details. */
enum wait_kind detail_kind(const struct task_view *task);
/* Returns the word for an end without a name. */
const char *other_end_word(const struct wait *wait, const struct other_end *end);

/*
 * If the file that @task waits for is on a file server or FUSE, sets the kind and its mount, and
 * @end to the serving process.
 */
void server_look(struct wait *wait, struct other_end *end, const struct task_view *task);

/*
 * Returns what a read or write of the descriptor waits for, and sets the object and @end. Returns
 * WAIT_OTHER if the descriptor cannot be read.
 */
enum wait_kind descriptor_look(struct look *look, struct wait *wait, struct other_end *end, int fd,
			       bool writes);

/*
 * Marks those of @waits, all ready to run, that are throttled. If any is below a CPU quota this
 * takes two quota periods, usually 0.2 s.
 */
void throttles_look(struct wait **waits, size_t nr);

/*
 * Sets WAIT_FROZEN if the cgroup of the process or an ancestor of it is frozen; the object is that
 * cgroup.
 */
void freezer_look(struct wait *wait);
/*
 * Sets the signal that stopped the process, and the terminal if the process is in its background.
 */
void stop_look(struct wait *wait, const struct task_view *task);

/* Adds the children that a thread waits for as peers. */
void children_look(struct wait *wait, const struct task_view *task);
/* Turns the wait of a shell or make for SIGCHLD into a wait for its children. */
void children_look_signalled(struct wait *wait, struct other_end *end,
			     const struct task_view *task);
/* Returns whether the process catches SIGCHLD, or blocks it for a signalfd. */
bool process_handles_children(pid_t pid);
/* Follows the children of a process that polls until SIGCHLD, such as sudo. */
void children_follow(struct wait *wait);
/* Turns the poll of bpfmon itself into a wait for its command. */
void launcher_look(struct wait *wait, struct other_end *end);

/* A way in which a process may continue: the wait of one thread, or one descriptor of its poll. */
struct way {
	struct wait wait;
	struct other_end end;
	bool is_poll;
};

/* The ways of a process that only other processes can end, until those have been searched. */
struct way_list {
	struct way *at; /* owned */
	size_t nr, room;
};

void way_list_done(struct way_list *list);
/* Sets the ways of @wait, after scan_ends(). */
void ways_finish(struct wait *wait, const struct way_list *list);

#endif
