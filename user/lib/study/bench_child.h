/* SPDX-License-Identifier: BSD-2-Clause */
/* Child processes that are waited for one after another, and signals meanwhile. */
#ifndef STUDY_BENCH_CHILD_H
#define STUDY_BENCH_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct children {
	sigset_t waited; /* blocked here, and taken while a child is waited for */
	sigset_t before; /* the mask that children get */
	int end_signal;  /* that asked for the end; 0: none has */
};

/* From here on signals that ask for the end are counted, and end nothing by themselves; those that
 * this process was started to ignore stay ignored. */
void children_open(struct children *c);
/* In a child: what it inherits of signals is as before children_open(). */
void children_leave(const struct children *c);
/* Whether a signal asks for the end: also one that has come while no child was waited for. */
bool children_are_to_end(struct children *c);
/*
 * Waits for the end of @pid, whose status as wait(2) gives it is returned. A signal that was sent
 * to this process alone is passed on; the terminal sends its own to the whole group.
 */
int child_wait(struct children *c, pid_t pid);
/*
 * Executes @command by the shell @shell, or as it is without (NULL), with stdout at
 * @stdout_fd, and waits for its end. The status of wait(2), or a negative errno.
 */
int child_execute(struct children *c, const char *shell, const char *command, int stdout_fd);

#endif
