// SPDX-License-Identifier: BSD-2-Clause
#include "job/pss_read.h"

#include "base/clock.h"
#include "base/smaps.h"
#include "base/stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define LONG_NS (10 * NSEC_PER_MSEC) /* from here on the cost of a thread does not matter */
#define PAUSE_NS (5 * NSEC_PER_MSEC)

struct job {
	pid_t pid;
	struct pss_reading *r;
	int err;
	pthread_mutex_t lock; /* of has_ended */
	pthread_cond_t changed;
	bool has_ended;
};

static void reading_take(struct job *job)
{
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	struct smaps said = { 0 };

	job->err = smaps_read(job->pid, &said);
	*job->r = (struct pss_reading){ said.pss_bytes, said.uss_bytes,
					clock_ns(CLOCK_MONOTONIC) - start_ns };
}

static void *reading_run(void *data)
{
	struct job *job = data;

	reading_take(job);
	pthread_mutex_lock(&job->lock);
	job->has_ended = true;
	pthread_cond_signal(&job->changed);
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

/* False: it goes on. */
static bool reading_wait(struct job *job, uint64_t pause_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + pause_ns;
	struct timespec end = { (time_t)(end_ns / NSEC_PER_SEC), (long)(end_ns % NSEC_PER_SEC) };
	bool has_ended;

	pthread_mutex_lock(&job->lock);
	while (!job->has_ended)
		if (pthread_cond_clockwait(&job->changed, &job->lock, CLOCK_MONOTONIC, &end))
			break;
	has_ended = job->has_ended;
	pthread_mutex_unlock(&job->lock);
	return has_ended;
}

int pss_read(pid_t pid, uint64_t expected_ns, struct pss_reading *r, void (*meanwhile)(void *),
	     void *context)
{
	struct job job = {
		.pid = pid,
		.r = r,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	pthread_t thread;

	if (expected_ns < LONG_NS || stack_start_thread(&thread, reading_run, &job)) {
		reading_take(&job);
		return job.err;
	}
	while (!reading_wait(&job, PAUSE_NS))
		meanwhile(context);
	pthread_join(thread, NULL);
	return job.err;
}
