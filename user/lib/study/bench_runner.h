/* SPDX-License-Identifier: BSD-2-Clause */
/* Goes through the plan of a benchmark: its steps and runs, one after another. */
#ifndef STUDY_BENCH_RUNNER_H
#define STUDY_BENCH_RUNNER_H

#include "study/plan.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* What executes. Each returns 0, or a negative errno that ends it all. */
struct bench_ops {
	int (*step)(void *context, const struct bench_case *c, enum bench_step step);
	int (*run)(void *context, const struct bench_case *c, const struct bench_turn *t);
};

/*
 * Executes all turns of @p, with the steps around them. What has been set up is cleaned up also
 * when something fails. Returns what failed first; -ENOMEM.
 */
int bench_run(const struct bench_plan *p, const struct bench_ops *ops, void *context);

/* Child processes that are waited for one after another, and signals meanwhile. */

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
