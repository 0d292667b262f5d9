// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process ends, and its memory is still there while others begin. What is left cannot be read
 * from the ending process; so another one shares its pages, and /proc/kpagecount has how often each
 * of them is mapped. The teardown gets no CPU meanwhile: a process of a real-time class takes the
 * one that it is bound to. Only what was observed is logged.
 */
#include "torture.h"
#include <sched.h>

#define LONGEST_NS 150000000LL /* less than the kernel grants to real-time classes per second */
#define NR_BEGINNERS 2
#define BLOCK 64 /* frames whose counts are read at once: they mostly lie side by side */

static bool choose_cpu(struct actor *a, cpu_set_t *one, cpu_set_t *others)
{
	long skip, cpu = -1;

	if (sched_getaffinity(0, sizeof(*others), others) || CPU_COUNT(others) < 2)
		return false;
	for (skip = chance_between(a, 0, CPU_COUNT(others) - 1); skip >= 0; skip--)
		do
			cpu++;
		while (!CPU_ISSET(cpu, others));
	CPU_ZERO(one);
	CPU_SET(cpu, one);
	CPU_CLR(cpu, others);
	return true;
}

/* Takes the CPU as soon as the gate opens, until the gate is done or for LONGEST_NS. */
static void cpu_block(struct actor *a, const cpu_set_t *cpu, const struct gate *gate)
{
	const struct sched_param first = { .sched_priority = 1 };
	bool may = !sched_setaffinity(0, sizeof(*cpu), cpu) &&
		   !sched_setscheduler(0, SCHED_FIFO, &first);

	if (may && gate_wait(&gate->is_open, 1, a)) {
		int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + LONGEST_NS;

		while (!__atomic_load_n(&gate->is_done, __ATOMIC_SEQ_CST) &&
		       clock_ns(CLOCK_MONOTONIC) < end_ns)
			;
	}
	end_process(a);
}

static void end_slowly(struct actor *a, const cpu_set_t *cpu)
{
	const struct sched_param none = { 0 };

	sched_setaffinity(0, sizeof(*cpu), cpu);
	sched_setscheduler(0, SCHED_IDLE, &none);
	end_process(a);
}

/* The frames of touched memory; false if they cannot be read. */
static bool read_frames(const char *start, uint64_t *frames, size_t pages)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	ssize_t size = (ssize_t)(pages * sizeof(*frames));
	bool done;

	if (fd < 0)
		return false;
	done = pread(fd, frames, size, (off_t)((uintptr_t)start / 4096 * sizeof(*frames))) == size;
	close(fd);
	for (size_t i = 0; i < pages && done; i++) {
		done = frames[i] >> 63;
		frames[i] &= (1ULL << 55) - 1;
		done = done && frames[i];
	}
	return done;
}

/* How much of it another process maps, too. All of that was mapped when this began. */
static long still_mapped(const uint64_t *frames, size_t pages)
{
	int fd = open("/proc/kpagecount", O_RDONLY | O_CLOEXEC);
	uint64_t counts[BLOCK], block = UINT64_MAX;
	long found = 0;

	for (size_t i = 0; i < pages && fd >= 0; i++) {
		if (frames[i] / BLOCK != block) {
			block = frames[i] / BLOCK;
			memset(counts, 0, sizeof(counts));
			if (pread(fd, counts, sizeof(counts), (off_t)(block * sizeof(counts))) < 0)
				break;
		}
		found += counts[frames[i] % BLOCK] == 2;
	}
	if (fd >= 0)
		close(fd);
	return found * 4096;
}

static void note_left(const struct actor *a, const struct actor *ended, const uint64_t *frames,
		      size_t pages)
{
	int64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	long left = still_mapped(frames, pages);

	log_note(a, "left %llx %lld %ld", (unsigned long long)ended->process, (long long)began_ns,
		 left);
}

/* Whether its memory is being given back: procfs shows none any more. */
static bool is_ending(pid_t pid, const struct actor *a)
{
	char path[32], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '0';
	close(fd);
	return text[0] == '0' || actor_is_over(a);
}

/* Shares memory with a child, lets that end, and observes what is left of it. */
static void memory_observe(struct actor *a, const cpu_set_t *cpu, struct gate *gate)
{
	struct actor blocker, ending;
	struct region *r, *table;
	uint64_t *frames;
	size_t size, unused;
	pid_t block_pid, pid;

	block_pid = begin_child(a, &blocker);
	if (!block_pid)
		cpu_block(&blocker, cpu, gate);
	r = memory_grow_anon(a, a->mib - 1);
	table = memory_grow_anon(a, 1);
	if (r && table && region_start(r, &size) &&
	    read_frames(region_start(r, &size), (void *)region_start(table, &unused),
			size / 4096)) {
		frames = (void *)region_start(table, &unused);
		pid = begin_child(a, &ending);
		if (!pid)
			end_slowly(&ending, cpu);
		while (!is_ending(pid, a))
			;
		gate_open(gate);
		note_left(a, &ending, frames, size / 4096);
		gate_wait(&gate->arrived, NR_BEGINNERS, a);
		note_left(a, &ending, frames, size / 4096);
		__atomic_store_n(&gate->is_done, 1, __ATOMIC_SEQ_CST);
		reap_child(a, pid);
	}
	gate_open(gate);
	__atomic_store_n(&gate->is_done, 1, __ATOMIC_SEQ_CST);
	reap_child(a, block_pid);
	end_process(a);
}

static pid_t begin_beginner(struct actor *a, long mib, struct gate *gate)
{
	struct actor child;
	pid_t pid = begin_child(a, &child);

	if (pid)
		return pid;
	child.mib = mib;
	memory_grow_anon(&child, mib);
	gate_arrive(gate);
	gate_wait(&gate->is_done, 1, &child);
	end_process(&child);
}

void memory_linger(struct actor *a)
{
	long mib = chance_between(a, 20, 100);
	cpu_set_t before, one, others;
	struct actor observer;
	pid_t pid, beginners[NR_BEGINNERS];
	struct gate *gate;

	if (a->processes < NR_BEGINNERS + 3 || a->mib < 3 * mib || a->is_sharer ||
	    sched_getaffinity(0, sizeof(before), &before) || !choose_cpu(a, &one, &others))
		return;
	gate = gate_new();
	sched_setaffinity(0, sizeof(others), &others); /* inherited by the children */
	pid = begin_child(a, &observer);
	if (!pid) {
		observer.mib = mib;
		memory_observe(&observer, &one, gate);
	}
	if (gate_wait(&gate->is_open, 1, a))
		for (int i = 0; i < NR_BEGINNERS; i++)
			beginners[i] = begin_beginner(a, mib / 2, gate);
	else
		beginners[0] = 0;
	reap_child(a, pid);
	for (int i = 0; i < NR_BEGINNERS && beginners[0]; i++)
		reap_child(a, beginners[i]);
	sched_setaffinity(0, sizeof(before), &before);
	gate_free(gate);
}
