// SPDX-License-Identifier: BSD-2-Clause
/*
 * One process makes and joins N threads, one after the other; each burns MS milliseconds of CPU (a
 * fraction or 0 will do). The own process clock keeps the CPU of threads that have ended.
 * Usage: threads N MS
 */
#include "truth.h"
#include <pthread.h>

static double ms;

static void *worker_run(void *arg)
{
	if (ms > 0)
		spin_ms(ms);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	long n;

	if (argc != 3)
		truth_usage("threads N MS");
	n = truth_number(argv[1]);
	ms = truth_number(argv[2]);
	for (long i = 0; i < n; i++) {
		errno = pthread_create(&thread, NULL, worker_run, NULL);
		if (errno)
			truth_fail("pthread_create");
		pthread_join(thread, NULL);
	}
	truth_write(1, n, 0, NULL);
	return 0;
}
