// SPDX-License-Identifier: BSD-2-Clause
/*
 * One process holds N threads (besides its first) alive at once for SECS seconds; they sleep, then
 * end all together.
 * Usage: livethreads N SECS
 */
#include "truth.h"
#include <pthread.h>

static pthread_barrier_t all_alive;
static int end[2];

static void *worker_run(void *arg)
{
	char c;

	pthread_barrier_wait(&all_alive);
	while (read(end[0], &c, 1) < 0 && errno == EINTR)
		;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t *threads;
	long n;

	if (argc != 3)
		truth_usage("livethreads N SECS");
	n = truth_number(argv[1]);
	threads = calloc(n + 1, sizeof(*threads));
	if (!threads || pipe(end))
		truth_fail("start");
	pthread_barrier_init(&all_alive, NULL, n + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (long i = 0; i < n; i++) {
		errno = pthread_create(&threads[i], &attr, worker_run, NULL);
		if (errno)
			truth_fail("pthread_create of thread %ld", i);
	}
	pthread_barrier_wait(&all_alive);
	sleep_seconds(truth_number(argv[2]));
	close(end[1]);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	truth_write(1, n, 0, NULL);
	return 0;
}
