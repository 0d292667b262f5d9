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

static bool start(struct actor *a, struct worker *w, void *(*run)(void *))
{
	pthread_attr_t attributes;

	w->stack = stack_take(a);
	if (!w->stack)
		return false;
	note(a, "thread");
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, w->stack, STACK_BYTES);
	errno = pthread_create(&w->thread, &attributes, run, w);
	if (errno)
		die("pthread_create");
	note(a, "threaded");
	pthread_attr_destroy(&attributes);
	return true;
}

static void join(struct worker *w)
{
	errno = pthread_join(w->thread, NULL);
	if (errno)
		die("pthread_join");
	stack_give(w->stack);
}

static void derive_worker(struct actor *a, struct worker *w, long share)
{
	w->self = *a;
	w->self.chance = chance(a);
	w->self.mib = a->mib / share;
	w->self.processes = a->processes / share;
	w->self.depth++;
	w->self.may_end = false;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	play_some(&w->self, w->actions);
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

/* Some do not wait for their threads: whatever those were about to do is cut off. */
void pool(struct actor *a)
{
	long n = between(a, 1, one_in(a, 4) ? MOST_THREADS : 6), begun = 0, share = a->mib / n;
	struct worker workers[MOST_THREADS];

	for (; begun < n; begun++) {
		derive_worker(a, &workers[begun], n);
		workers[begun].actions = between(a, 0, 3);
		if (!start(a, &workers[begun], work))
			break;
	}
	if (a->may_end && one_in(a, 6))
		end_process(a);
	if (a->may_end && one_in(a, 8))
		become(a, "play", 0);
	for (long i = 0; i < begun; i++) {
		join(&workers[i]);
		a->mib += workers[i].self.mib - share;
	}
}

void churn(struct actor *a)
{
	long n = between(a, 20, 300);
	struct worker one;

	for (long i = 0; i < n && !is_over(a); i++) {
		if (!start(a, &one, nothing))
			return;
		join(&one);
	}
}

static void *go_on(void *arg)
{
	struct worker *w = arg;

	if (w->execs)
		become(&w->self, "play", 0);
	play(&w->self);
	return NULL;
}

static struct worker *successor(struct actor *a, bool execs)
{
	static struct worker last; /* outlives the leader's stack frames; a process has one */

	derive_worker(a, &last, 1);
	last.self.may_end = true;
	last.execs = execs;
	return start(a, &last, go_on) ? &last : NULL;
}

/* By the system call: in a static program pthread_exit() loads a library. */
void leader_exits(struct actor *a)
{
	if (!successor(a, false))
		end_process(a);
	note(a, "leader");
	syscall(SYS_exit, 0);
	__builtin_unreachable();
}

void thread_becomes(struct actor *a)
{
	if (!successor(a, true))
		end_process(a);
	for (;;)
		pause();
}
