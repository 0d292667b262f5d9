// SPDX-License-Identifier: BSD-2-Clause
#include "collect/pss_read.h"

#include "base/clock.h"
#include "base/smaps.h"
#include "base/stack.h"

#include <pthread.h>
#include <stddef.h>

#define LONG_NS (10 * NSEC_PER_MSEC) /* from here on a thread is nothing beside it */
#define PAUSE_NS (5 * NSEC_PER_MSEC)

struct job {
	pid_t pid;
	struct pss_reading *r;
	int err;
};

static void *run(void *data)
{
	struct job *job = data;
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	struct smaps said = { 0 };

	job->err = smaps_read(job->pid, &said);
	*job->r = (struct pss_reading){ said.pss_bytes, said.uss_bytes,
					clock_ns(CLOCK_MONOTONIC) - start_ns };
	return NULL;
}

static int join_for(pthread_t thread, uint64_t pause_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + pause_ns;
	struct timespec end = { (time_t)(end_ns / NSEC_PER_SEC), (long)(end_ns % NSEC_PER_SEC) };

	return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &end);
}

int pss_read(pid_t pid, uint64_t expected_ns, struct pss_reading *r, void (*meanwhile)(void *),
	     void *context)
{
	struct job job = { .pid = pid, .r = r };
	pthread_t thread;

	if (expected_ns < LONG_NS || stack_thread(&thread, run, &job)) {
		run(&job);
		return job.err;
	}
	while (join_for(thread, PAUSE_NS))
		meanwhile(context);
	return job.err;
}
