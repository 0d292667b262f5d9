// SPDX-License-Identifier: BSD-2-Clause
/* Children: in parallel, in turn, without a parent, in one address space, ended by others. */
#include "torture.h"
#include <sched.h>

#define MOST_CHILDREN 100
#define MOST_SHARED_MIB 40

/* What a child may do that has all of its creator's memory: some of this, then an end. */
static void live_as_child(struct actor *child, long mib)
{
	child->mib = mib;
	if (one_in(child, 2))
		shrink(child);
	if (one_in(child, 2))
		grow(child, between(child, 1, mib));
	if (one_in(child, 3))
		pause_ms(child, 0, 15);
	if (one_in(child, 4))
		shrink(child);
	if (child->processes > 0 && one_in(child, 3))
		play(child);
	if (one_in(child, 3))
		become(child, "small", between(child, -15, 15));
	end_process(child);
}

static pid_t begin_living(struct actor *a, long mib, long processes)
{
	struct actor child;
	pid_t pid = begin_child(a, &child);

	if (pid)
		return pid;
	child.processes = processes;
	live_as_child(&child, mib);
	return 0;
}

void burst(struct actor *a)
{
	long n = between(a, 1, a->processes < MOST_CHILDREN ? a->processes : MOST_CHILDREN);
	long mib = a->mib / (n + 1), more = a->processes / (n + 1);
	pid_t pids[MOST_CHILDREN];

	if (a->processes < 1)
		return;
	for (long i = 0; i < n; i++)
		pids[i] = begin_living(a, mib < 150 ? mib : 150, more);
	for (long i = 0; i < n; i++)
		reap_child(a, pids[i]);
}

void sequence(struct actor *a)
{
	long n = between(a, 2, 25);

	for (long i = 0; i < n && a->processes > 0 && !is_over(a); i++)
		reap_child(a, begin_living(a, a->mib / n, 0));
}

/* The child ends at once; who began this run reaps its child. What it takes is not given back. */
void daemons(struct actor *a)
{
	long mib = a->mib / 4, more = a->processes / 4;
	struct actor child;
	pid_t pid;

	if (more < 1)
		return;
	a->mib -= mib;
	a->processes -= more;
	pid = begin_child(a, &child);
	if (!pid) {
		setsid();
		begin_living(&child, mib, more - 1);
		end_process(&child);
	}
	reap_child(a, pid);
}

/* In the memory of the others: it ends before or after them. */
static int share(void *arg)
{
	struct actor *a = arg, self = *a;

	note(&self, "born %d", getpid());
	self.mib = between(&self, 1, MOST_SHARED_MIB);
	for (long n = between(&self, 0, 3); n > 0; n--) {
		grow(&self, between(&self, 1, self.mib));
		pause_ms(&self, 0, 12);
		if (one_in(&self, 2))
			shrink(&self);
	}
	if (one_in(&self, 4))
		become(&self, "small", between(&self, 0, 10));
	end_process(&self);
}

void sharers(struct actor *a)
{
	long n = between(a, 1, a->processes < 6 ? a->processes : 6);
	bool waits = !a->may_end || !one_in(a, 4);
	struct actor children[6];
	pid_t pids[6];

	if (a->processes < 1 || a->mib < n * MOST_SHARED_MIB)
		return;
	a->mib -= n * MOST_SHARED_MIB; /* what they leave can be given back by anybody in here */
	for (long i = 0; i < n; i++)
		pids[i] = begin_sharer(a, &children[i], share);
	if (!waits) /* they go on in what is then nobody else's */
		end_process(a);
	for (long i = 0; i < n; i++)
		if (pids[i] > 0)
			reap_child(a, pids[i]);
}

/* All hold at the same moment, which no sample need see; then each is small, and may share. */
void together(struct actor *a)
{
	long n = between(a, 2, 6), mib = between(a, 10, 60);
	struct actor child;
	struct gate *gate;
	pid_t pids[6];

	if (a->processes < n * 2 || a->mib < n * mib)
		return;
	gate = gate_new();
	for (long i = 0; i < n; i++) {
		pids[i] = begin_child(a, &child);
		if (pids[i])
			continue;
		child.mib = mib;
		grow_anon(&child, mib);
		gate_arrive(gate);
		gate_wait(&gate->is_open, 1, &child);
		become(&child, "small", one_in(&child, 3) ? 20 : -60);
	}
	gate_wait(&gate->arrived, (unsigned)n, a);
	gate_open(gate);
	gate_free(gate);
	for (long i = 0; i < n; i++)
		reap_child(a, pids[i]);
}

/* Ended by a signal while it grows, or holds. */
void killed_child(struct actor *a)
{
	struct actor child;
	int status;
	pid_t pid;

	if (a->processes < 1)
		return;
	pid = begin_child(a, &child);
	if (!pid) {
		child.mib = a->mib / 2;
		while (!is_over(&child)) {
			grow(&child, between(&child, 1, 30));
			pause_ms(&child, 1, 5);
		}
		end_process(&child);
	}
	pause_ms(a, 1, 30);
	note(a, "kill %llx", (unsigned long long)child.process);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		;
	note(a, "reaped %d", pid);
}

/* With much memory, at the lowest priority, while others begin. */
void idle_exits(struct actor *a)
{
	const struct sched_param none = { 0 };
	struct actor child;
	pid_t pid, other;

	if (a->processes < 2)
		return;
	pid = begin_child(a, &child);
	if (!pid) {
		child.mib = a->mib / 3;
		grow_anon(&child, between(&child, 1, child.mib));
		sched_setscheduler(0, SCHED_IDLE, &none);
		end_process(&child);
	}
	pause_ms(a, 0, 20);
	other = begin_living(a, a->mib / 3, 0);
	reap_child(a, other);
	reap_child(a, pid);
}

/* They have ended, and nobody has waited for them yet, while others begin: here and elsewhere. */
void zombies(struct actor *a)
{
	long n = between(a, 1, a->processes < 8 ? a->processes - 1 : 8);
	struct actor child;
	pid_t pids[8], other;

	if (a->processes < 2)
		return;
	for (long i = 0; i < n; i++) {
		pids[i] = begin_child(a, &child);
		if (!pids[i])
			end_process(&child);
	}
	pause_ms(a, 10, 60);
	other = begin_living(a, a->mib / 3, 0);
	pause_ms(a, 10, 60);
	reap_child(a, other);
	for (long i = 0; i < n; i++)
		reap_child(a, pids[i]);
}
