// SPDX-License-Identifier: BSD-2-Clause
/*
 * P parents at once fork N children each, one after the other; every 4th child makes and joins one
 * thread, all end at once. 1 + P + P * N processes and P * (N / 4) threads.
 * Usage: forkstorm P N
 */
#include "truth.h"
#include <pthread.h>

static void *nothing(void *arg)
{
	return arg;
}

static void child(long i)
{
	pthread_t thread;

	if (i % 4 == 3) {
		errno = pthread_create(&thread, NULL, nothing, NULL);
		if (errno)
			die("pthread_create");
		pthread_join(thread, NULL);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	double cpu = 0;
	long p, n;

	if (argc != 3)
		usage("forkstorm P N");
	p = number(argv[1]);
	n = number(argv[2]);
	for (long k = 0; k < p; k++) {
		if (xfork())
			continue;
		for (long i = 0; i < n; i++) {
			pid_t pid = xfork();

			if (!pid)
				child(i);
			reap_ok(pid, &cpu);
		}
		_exit(0);
	}
	for (long k = 0; k < p; k++)
		reap_ok(-1, &cpu);
	tell(1 + p + p * n, p * (n / 4), cpu, ",\"children_cpu_seconds\":%.6f", cpu);
	return 0;
}
