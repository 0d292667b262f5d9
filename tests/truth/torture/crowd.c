// SPDX-License-Identifier: BSD-2-Clause
/* Children: in parallel, in turn, without a parent, in one address space, killed by others. */
#include "torture.h"
#include <sched.h>

#define MOST_CHILDREN 100
#define MOST_SHARED_MIB 40

/* A child with all of its creator's budget of memory: some actions, then an end. */
static void live_as_child(struct actor *child, long mib)
{
	child->mib = mib;
	if (chance_one_in(child, 2))
		memory_shrink(child);
	if (chance_one_in(child, 2))
		memory_grow(child, chance_between(child, 1, mib));
	if (chance_one_in(child, 3))
		chance_pause_ms(child, 0, 15);
	if (chance_one_in(child, 4))
		memory_shrink(child);
	if (child->processes > 0 && chance_one_in(child, 3))
		actor_play(child);
	if (chance_one_in(child, 3))
		process_exec(child, "small", chance_between(child, -15, 15));
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

void crowd_burst(struct actor *a)
{
	long n = chance_between(a, 1, a->processes < MOST_CHILDREN ? a->processes : MOST_CHILDREN);
	long mib = a->mib / (n + 1), more = a->processes / (n + 1);
	pid_t pids[MOST_CHILDREN];

	if (a->processes < 1)
		return;
	for (long i = 0; i < n; i++)
		pids[i] = begin_living(a, mib < 150 ? mib : 150, more);
	for (long i = 0; i < n; i++)
		reap_child(a, pids[i]);
}

void crowd_sequence(struct actor *a)
{
	long n = chance_between(a, 2, 25);

	for (long i = 0; i < n && a->processes > 0 && !actor_is_over(a); i++)
		reap_child(a, begin_living(a, a->mib / n, 0));
}

/* The child ends at once; main.c reaps the grandchild. Its budget is not given back. */
void crowd_daemons(struct actor *a)
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
static int sharer_run(void *arg)
{
	struct actor *a = arg, self = *a;

	log_note(&self, "born %d", getpid());
	self.mib = chance_between(&self, 1, MOST_SHARED_MIB);
	for (long n = chance_between(&self, 0, 3); n > 0; n--) {
		memory_grow(&self, chance_between(&self, 1, self.mib));
		chance_pause_ms(&self, 0, 12);
		if (chance_one_in(&self, 2))
			memory_shrink(&self);
	}
	if (chance_one_in(&self, 4))
		process_exec(&self, "small", chance_between(&self, 0, 10));
	end_process(&self);
}

void crowd_sharers(struct actor *a)
{
	long n = chance_between(a, 1, a->processes < 6 ? a->processes : 6);
	bool waits = !a->may_end || !chance_one_in(a, 4);
	struct actor children[6];
	pid_t pids[6];

	if (a->processes < 1 || a->mib < n * MOST_SHARED_MIB)
		return;
	a->mib -= n * MOST_SHARED_MIB; /* any actor of the space may give back what they leave */
	for (long i = 0; i < n; i++)
		pids[i] = begin_sharer(a, &children[i], sharer_run);
	if (!waits) /* they go on in a space that is then theirs alone */
		end_process(a);
	for (long i = 0; i < n; i++)
		if (pids[i] > 0)
			reap_child(a, pids[i]);
}

/* All hold at the same moment, between samples perhaps; then each becomes small, and may share. */
void crowd_together(struct actor *a)
{
	long n = chance_between(a, 2, 6), mib = chance_between(a, 10, 60);
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
		memory_grow_anon(&child, mib);
		gate_arrive(gate);
		gate_wait(&gate->is_open, 1, &child);
		process_exec(&child, "small", chance_one_in(&child, 3) ? 20 : -60);
	}
	gate_wait(&gate->arrived, (unsigned)n, a);
	gate_open(gate);
	gate_free(gate);
	for (long i = 0; i < n; i++)
		reap_child(a, pids[i]);
}

/* Ended by a signal while it grows, or holds. */
void crowd_killed_child(struct actor *a)
{
	struct actor child;
	struct rusage used;
	pid_t pid;

	if (a->processes < 1)
		return;
	pid = begin_child(a, &child);
	if (!pid) {
		child.mib = a->mib / 2;
		while (!actor_is_over(&child)) {
			memory_grow(&child, chance_between(&child, 1, 30));
			chance_pause_ms(&child, 1, 5);
		}
		end_process(&child);
	}
	chance_pause_ms(a, 1, 30);
	log_note(a, "kill %llx", (unsigned long long)child.process);
	kill(pid, SIGKILL);
	child_reap_usage(pid, &used);
	note_reaped(a, pid, &used);
}

/* With much memory, at the lowest priority, while others begin. */
void crowd_idle_exits(struct actor *a)
{
	const struct sched_param none = { 0 };
	struct actor child;
	pid_t pid, other;

	if (a->processes < 2)
		return;
	pid = begin_child(a, &child);
	if (!pid) {
		child.mib = a->mib / 3;
		memory_grow_anon(&child, chance_between(&child, 1, child.mib));
		sched_setscheduler(0, SCHED_IDLE, &none);
		end_process(&child);
	}
	chance_pause_ms(a, 0, 20);
	other = begin_living(a, a->mib / 3, 0);
	reap_child(a, other);
	reap_child(a, pid);
}

/* Children that have ended and are not yet reaped while others begin. */
void crowd_zombies(struct actor *a)
{
	long n = chance_between(a, 1, a->processes < 8 ? a->processes - 1 : 8);
	struct actor child;
	pid_t pids[8], other;

	if (a->processes < 2)
		return;
	for (long i = 0; i < n; i++) {
		pids[i] = begin_child(a, &child);
		if (!pids[i])
			end_process(&child);
	}
	chance_pause_ms(a, 10, 60);
	other = begin_living(a, a->mib / 3, 0);
	chance_pause_ms(a, 10, 60);
	reap_child(a, other);
	for (long i = 0; i < n; i++)
		reap_child(a, pids[i]);
}
