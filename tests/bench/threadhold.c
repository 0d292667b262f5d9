// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps N tasks alive and asleep for SECONDS: N threads of one process, the first one among them,
 * or with -p N processes, the first one among them.
 * Usage: threadhold [-p] N SECONDS
 */
#include "bench.h"
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#define HELP "threadhold [-p] N SECONDS"
#define STACK (64 * 1024)

static void *sleeper(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void make_threads(long n)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, STACK))
		die("pthread_attr");
	for (long i = 0; i < n; i++) {
		errno = pthread_create(&thread, &attr, sleeper, NULL);
		if (errno)
			die("pthread_create");
	}
}

static pid_t *make_processes(long n)
{
	pid_t parent = getpid();
	pid_t *pids = calloc(n + 1, sizeof(*pids));

	if (!pids)
		die("calloc");
	for (long i = 0; i < n; i++) {
		pids[i] = xfork();
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(1);
			sleeper(NULL);
		}
	}
	return pids;
}

int main(int argc, char **argv)
{
	int processes = argc == 4 && !strcmp(argv[1], "-p");
	struct timespec left = { 0 };
	pid_t *pids = NULL;
	double start;
	long others;

	if (argc != 3 + processes)
		usage(HELP);
	others = number(argv[1 + processes], HELP) - 1;
	left.tv_sec = number(argv[2 + processes], HELP);
	start = now();
	if (processes)
		pids = make_processes(others);
	else
		make_threads(others);
	while (nanosleep(&left, &left))
		if (errno != EINTR)
			die("nanosleep");
	for (long i = 0; pids && i < others; i++) {
		kill(pids[i], SIGKILL);
		reap(pids[i]);
	}
	report(now() - start);
	return 0;
}
