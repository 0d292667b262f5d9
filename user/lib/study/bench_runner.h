/* SPDX-License-Identifier: BSD-2-Clause */
/* Executes the plan of a benchmark and its child processes. */
#ifndef STUDY_BENCH_RUNNER_H
#define STUDY_BENCH_RUNNER_H

#include "study/plan.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Callbacks that execute one step or run. They return 0, or a negative errno that ends the
 * benchmark.
 */
struct bench_ops {
	int (*step)(void *context, const struct bench_case *c, enum bench_step step);
	int (*run)(void *context, const struct bench_case *c, const struct bench_turn *t);
};

/*
 * Executes all turns of @p with the steps around them. Also after an error, all cases that were set
 * up are cleaned up. Returns 0, the first error of a callback, or -ENOMEM.
 */
int bench_run(const struct bench_plan *p, const struct bench_ops *ops, void *context);

/* The child process, one at a time, and the signals that end the benchmark. */
struct children {
	sigset_t waited; /* blocked; handled while a child is waited for */
	sigset_t before; /* signal mask of children */
	int end_signal;  /* signal that ends the benchmark; 0: none yet */
};

/* Blocks the signals that end the benchmark, except those ignored at the start. */
void children_open(struct children *c);
/* Restores the signal mask, in a child. */
void children_leave(const struct children *c);
/* Returns whether a signal has arrived that ends the benchmark, also when no child ran. */
bool children_should_end(struct children *c);
/*
 * Waits for @pid and returns its wait(2) status. Forwards signals sent to this process alone; those
 * of the terminal reach the whole process group.
 */
int child_wait(struct children *c, pid_t pid);
/*
 * Executes @command with the shell @shell, or directly if NULL, with stdout to @stdout_fd, and
 * waits for it. Returns the wait(2) status, or a negative errno.
 */
int child_execute(struct children *c, const char *shell, const char *command, int stdout_fd);

#endif
