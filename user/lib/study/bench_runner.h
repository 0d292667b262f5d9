/* SPDX-License-Identifier: BSD-2-Clause */
/* Executes the plan of a benchmark, and its child processes. */
#ifndef STUDY_BENCH_RUNNER_H
#define STUDY_BENCH_RUNNER_H

#include "study/plan.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Executes one step or run. Each returns 0, or a negative errno that ends the benchmark. */
struct bench_ops {
	int (*step)(void *context, const struct bench_case *c, enum bench_step step);
	int (*run)(void *context, const struct bench_case *c, const struct bench_turn *t);
};

/*
 * Executes all turns of @p with the steps around them. Cases that were set up are cleaned up also
 * after an error. Returns the first error; -ENOMEM.
 */
int bench_run(const struct bench_plan *p, const struct bench_ops *ops, void *context);

/* Child processes, one at a time, and the signals that end the benchmark. */
struct children {
	sigset_t waited; /* blocked, and handled while waiting for a child */
	sigset_t before; /* the mask of children */
	int end_signal;  /* the signal that requested the end; 0: none */
};

/* Blocks the signals that request the end. Those that were ignored at the start stay ignored. */
void children_open(struct children *c);
/* Restores the signal mask in a child. */
void children_leave(const struct children *c);
/* Returns whether a signal has requested the end, also while no child was waited for. */
bool children_are_to_end(struct children *c);
/*
 * Waits for @pid and returns its status as wait(2). Forwards signals that were sent to this process
 * alone; the terminal sends its signals to the whole group.
 */
int child_wait(struct children *c, pid_t pid);
/*
 * Executes @command by the shell @shell, or directly if NULL, with stdout at @stdout_fd, and waits
 * for it. Returns the status as wait(2), or a negative errno.
 */
int child_execute(struct children *c, const char *shell, const char *command, int stdout_fd);

#endif
