// SPDX-License-Identifier: BSD-2-Clause
/* Threads: pools, churn, leaders that end first, threads that exec. */
#include "torture.h"
#include <pthread.h>

#define MOST_THREADS 48

struct worker {
	struct actor self;
	pthread_t thread;
	char *stack;
	long actions;
	bool execs;
};

static bool worker_start(struct actor *a, struct worker *w, void *(*run)(void *))
{
	pthread_attr_t attributes;

	w->stack = stack_take(a);
	if (!w->stack)
		return false;
	log_note(a, "thread");
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, w->stack, STACK_BYTES);
	errno = pthread_create(&w->thread, &attributes, run, w);
	if (errno)
		truth_fail("pthread_create");
	log_note(a, "threaded");
	pthread_attr_destroy(&attributes);
	return true;
}

static void worker_join(struct worker *w)
{
	errno = pthread_join(w->thread, NULL);
	if (errno)
		truth_fail("pthread_join");
	stack_give(w->stack);
}

static void worker_derive(struct actor *a, struct worker *w, long share)
{
	w->self = *a;
	w->self.chance = chance_next(a);
	w->self.mib = a->mib / share;
	w->self.processes = a->processes / share;
	w->self.depth++;
	w->self.may_end = false;
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	actor_play_some(&w->self, w->actions);
	return NULL;
}

static void *thread_end(void *arg)
{
	return arg;
}

/* Some actors do not wait for their threads: these are cut off in the middle of an action. */
void threads_pool(struct actor *a)
{
	long n = chance_between(a, 1, chance_one_in(a, 4) ? MOST_THREADS : 6), begun = 0,
	     share = a->mib / n;
	struct worker workers[MOST_THREADS];

	for (; begun < n; begun++) {
		worker_derive(a, &workers[begun], n);
		workers[begun].actions = chance_between(a, 0, 3);
		if (!worker_start(a, &workers[begun], worker_run))
			break;
	}
	if (a->may_end && chance_one_in(a, 6))
		end_process(a);
	if (a->may_end && chance_one_in(a, 8))
		process_exec(a, "play", 0);
	for (long i = 0; i < begun; i++) {
		worker_join(&workers[i]);
		a->mib += workers[i].self.mib - share;
	}
}

void threads_churn(struct actor *a)
{
	long n = chance_between(a, 20, 300);
	struct worker one;

	for (long i = 0; i < n && !actor_is_over(a); i++) {
		if (!worker_start(a, &one, thread_end))
			return;
		worker_join(&one);
	}
}

static void *thread_go_on(void *arg)
{
	struct worker *w = arg;

	if (w->execs)
		process_exec(&w->self, "play", 0);
	actor_play(&w->self);
	return NULL;
}

static struct worker *worker_start_successor(struct actor *a, bool execs)
{
	static struct worker last; /* outlives the leader's stack frames; a process has one */

	worker_derive(a, &last, 1);
	last.self.may_end = true;
	last.execs = execs;
	return worker_start(a, &last, thread_go_on) ? &last : NULL;
}

/* By the system call: in a static program pthread_exit() loads a library. */
void thread_leader_exit(struct actor *a)
{
	if (!worker_start_successor(a, false))
		end_process(a);
	log_note(a, "leader");
	syscall(SYS_exit, 0);
	__builtin_unreachable();
}

void thread_exec(struct actor *a)
{
	if (!worker_start_successor(a, true))
		end_process(a);
	for (;;)
		pause();
}
