// SPDX-License-Identifier: BSD-2-Clause
/*
 * P parents at once fork N children each, one after the other; every 4th child makes and joins one
 * thread, all end at once. 1 + P + P * N processes and P * (N / 4) threads.
 * Usage: forkstorm P N
 */
#include "truth.h"
#include <pthread.h>

static void *thread_end(void *arg)
{
	return arg;
}

static void child_run(long i)
{
	pthread_t thread;

	if (i % 4 == 3) {
		errno = pthread_create(&thread, NULL, thread_end, NULL);
		if (errno)
			truth_fail("pthread_create");
		pthread_join(thread, NULL);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	double cpu = 0;
	long p, n;

	if (argc != 3)
		truth_usage("forkstorm P N");
	p = truth_number(argv[1]);
	n = truth_number(argv[2]);
	for (long k = 0; k < p; k++) {
		if (child_fork())
			continue;
		for (long i = 0; i < n; i++) {
			pid_t pid = child_fork();

			if (!pid)
				child_run(i);
			child_reap_ok(pid, &cpu);
		}
		_exit(0);
	}
	for (long k = 0; k < p; k++)
		child_reap_ok(-1, &cpu);
	truth_write(1 + p + p * n, p * (n / 4), cpu, ",\"children_cpu_seconds\":%.6f", cpu);
	return 0;
}
