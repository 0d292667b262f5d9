// SPDX-License-Identifier: BSD-2-Clause
/*
 * Drains while processes live, and others fork and exit at full speed. Prints one JSON object: for
 * each drain how many of the processes that live through it had one row, several, or none; whether
 * it met all tasks; and how long it took.
 *
 * Usage: drains N ROWS DRAINS    N processes that live; room for ROWS rows at once (0: the default)
 */
#include "base/clock.h"
#include "measure/tracker.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 31000
#define STORMS 2
#define STACK_BYTES 8192
#define MAX_PID (1 << 22)

static struct tracker books;
static pid_t *parked;      /* shared with the process that starts them */
static unsigned char *met; /* by PID */

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "drains: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *shared(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

/* Ends with the process that has started it. */
static pid_t fork_bound(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

__attribute__((noreturn)) static void storm(void)
{
	for (;;) {
		pid_t pid = vfork();

		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

__attribute__((noreturn)) static int park(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* Waits until it is followed, starts all others, and says so. */
__attribute__((noreturn)) static void starter(size_t n, int go, int ready)
{
	char *stacks = shared(n * STACK_BYTES), c = 0;

	if (read(go, &c, 1) != 1)
		_exit(1);
	for (size_t i = 0; i < n; i++) {
		/* all in one address space: of their own each would take half a MiB of the kernel's
		 */
		parked[i] = clone(park, stacks + (i + 1) * STACK_BYTES, CLONE_VM | SIGCHLD, NULL);
		if (parked[i] < 0)
			die("clone");
	}
	for (int i = 0; i < STORMS; i++)
		if (!fork_bound())
			storm();
	if (write(ready, &c, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static pid_t starter_start(size_t n)
{
	int go[2], ready[2];
	char c = 0;
	pid_t pid;

	if (pipe(go) || pipe(ready))
		die("pipe");
	pid = fork_bound();
	if (!pid)
		starter(n, go[0], ready[1]);
	close(ready[1]);
	if (tracker_follow(&books, pid) || write(go[1], &c, 1) != 1 || read(ready[0], &c, 1) != 1)
		die("a process cannot be followed");
	return pid;
}

static void books_open(unsigned rows)
{
	struct tracker_options o = { .max_tasks = 65536, .rows = rows };
	char why[512];

	metric_set_all(&o.wanted);
	if (!tracker_open(&books, &o, why, sizeof(why)))
		return;
	fprintf(stderr, "drains: %s\n", why);
	exit(1);
}

static void row_count(void *context, const struct drain_row *row)
{
	(void)context;
	if (row->pid < MAX_PID && row->flags & ROW_ALIVE)
		met[row->pid]++;
}

static void drain_and_print(size_t n, int at)
{
	uint64_t from = clock_ns(CLOCK_MONOTONIC);
	size_t nr[3] = { 0 };
	bool all;

	memset(met, 0, MAX_PID);
	if (tracker_drain_whole(&books, row_count, NULL))
		die("a drain");
	all = tracker_visited_all(&books);
	from = clock_ns(CLOCK_MONOTONIC) - from;
	for (size_t i = 0; i < n; i++)
		nr[met[parked[i]] < 2 ? met[parked[i]] : 2]++;
	printf("%s{\"none\":%zu,\"one\":%zu,\"several\":%zu,\"all\":%s,\"ns\":%llu}", at ? "," : "",
	       nr[0], nr[1], nr[2], all ? "true" : "false", (unsigned long long)from);
}

static uint64_t losses(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_LOSSES; i++)
		sum += i == LOSS_RECORDS ? 0 : tracker_tracking(&books)->loss[i];
	return sum; /* nobody reads the records */
}

int main(int argc, char **argv)
{
	size_t n = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
	int drains = argc == 4 ? atoi(argv[3]) : 0;
	pid_t pid;

	if (!n || n > MOST || drains < 1)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	parked = shared(n * sizeof(*parked));
	met = shared(MAX_PID);
	books_open((unsigned)strtoul(argv[2], NULL, 10));
	pid = starter_start(n);
	printf("{\"drains\":[");
	for (int i = 0; i < drains; i++)
		drain_and_print(n, i);
	printf("],\"lost\":%llu}\n", (unsigned long long)losses());
	kill(pid, SIGKILL); /* and with it all that it has started */
	while (wait(NULL) > 0 || errno == EINTR)
		;
	tracker_close(&books);
	return 0;
}
