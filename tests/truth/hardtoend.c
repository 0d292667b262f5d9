// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trees that are hard to end: all ignore SIGTERM. None grows beyond what is asked for, and each
 * process ends by itself after SECS.
 * Usage: hardtoend SHAPE N SECS
 */
#include "truth.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define CHILDREN 3

static int64_t until_ns;

static bool is_time(void)
{
	return clock_ns(CLOCK_MONOTONIC) >= until_ns;
}

static void stay(void)
{
	while (!is_time())
		sleep_seconds(0.1);
	_exit(0);
}

/* One process at a time, of which each makes the next one and ends; @leaves: it leaves its session,
 * and pauses, as what waits for orphans may be slow. */
static void chain(bool leaves)
{
	while (!is_time()) {
		if (leaves) {
			setsid();
			sleep_seconds(0.001);
		}
		if (fork() > 0)
			_exit(0);
	}
	_exit(0);
}

static void shape_chain(void)
{
	chain(false);
}

static void shape_daemon(void)
{
	chain(true);
}

/* Makes short-lived children without a pause, some at a time. */
static void shape_fan(void)
{
	int nr = 0;

	signal(SIGCHLD, SIG_DFL);
	while (!is_time()) {
		if (nr == CHILDREN && wait(NULL) > 0)
			nr--;
		pid_t pid = fork();

		if (!pid) {
			sleep_seconds(0.002);
			_exit(0);
		}
		nr += pid > 0;
	}
	_exit(0);
}

static void shape_stopped(void)
{
	raise(SIGSTOP);
	stay();
}

/* The child stops for its tracer, which is not there for it. */
static void shape_traced(void)
{
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGUSR1);
	}
	stay();
}

static void become_other(void)
{
	if (setgid(65533) || setuid(65533))
		truth_fail("setuid: %m");
}

static void shape_user(void)
{
	become_other();
	chain(true);
}

/* Makes system calls all the time. */
static void shape_foreign(void)
{
	become_other();
	while (!is_time())
		sleep_seconds(0.001);
	_exit(0);
}

/* The next process is the first of a PID namespace, and its end that of all in it. */
static void shape_pidns(void)
{
	if (unshare(CLONE_NEWPID))
		truth_skip("no PID namespace: %m");
	if (!fork())
		shape_fan();
	stay();
}

static const struct {
	const char *name;
	void (*run)(void);
} shapes[] = {
	{ "asleep", stay },         { "chain", shape_chain },	{ "daemon", shape_daemon },
	{ "fan", shape_fan },	      { "stopped", shape_stopped }, { "traced", shape_traced },
	{ "foreign", shape_foreign }, { "user", shape_user },	      { "pidns", shape_pidns },
};

int main(int argc, char **argv)
{
	void (*run)(void) = NULL;

	for (size_t i = 0; argc == 4 && i < sizeof(shapes) / sizeof(*shapes); i++)
		if (!strcmp(argv[1], shapes[i].name))
			run = shapes[i].run;
	if (!run)
		truth_usage("hardtoend SHAPE N SECS");
	signal(SIGTERM, SIG_IGN);
	/* else the ended ones of a chain are in the way of others until the machine's first process has
	 * waited for them */
	signal(SIGCHLD, SIG_IGN);
	if (run == shape_chain)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	until_ns = clock_ns(CLOCK_MONOTONIC) + (int64_t)(truth_number(argv[3]) * 1e9);
	for (long n = truth_number(argv[2]); n > 0; n--)
		if (!fork())
			run();
	stay();
}
