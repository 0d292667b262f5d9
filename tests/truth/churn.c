// SPDX-License-Identifier: BSD-2-Clause
/*
 * Holds MIB MiB for SECS while threads begin and end all the time; with "exit" the first thread has
 * ended before, and with "huge" the memory is in huge pages of hugetlbfs.
 * Usage: churn MIB SECS [exit|huge]
 */
#include "truth.h"
#include <pthread.h>

static pthread_t leader;
static double mib, secs;
static int is_huge, leader_exits;

static void *thread_end(void *arg)
{
	return arg;
}

static void memory_hold(void)
{
	size_t size = (size_t)(mib * 1048576);
	char *p;

	if (!is_huge) {
		touch_mib(mib);
		return;
	}
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1,
		 0);
	if (p == MAP_FAILED)
		truth_skip("fewer than %.0f MiB of huge pages are free", mib);
	touch_pages(p, size);
}

static void *memory_hold_while_churning(void *arg)
{
	int64_t held_ns, end_ns;
	long threads = leader_exits;
	pthread_t thread;

	if (leader_exits)
		pthread_join(leader, NULL);
	memory_hold();
	held_ns = clock_ns(CLOCK_BOOTTIME);
	for (end_ns = held_ns + (int64_t)(secs * 1e9); clock_ns(CLOCK_BOOTTIME) < end_ns; threads++) {
		errno = pthread_create(&thread, NULL, thread_end, NULL);
		if (errno)
			truth_fail("pthread_create");
		pthread_join(thread, NULL);
		sleep_seconds(0.0005);
	}
	truth_write(1, threads, 0, ",\"held_seconds\":%.9f,\"freed_seconds\":%.9f", held_ns / 1e9,
		    clock_ns(CLOCK_BOOTTIME) / 1e9);
	_exit(0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3 || argc > 4)
		truth_usage("churn MIB SECS [exit|huge]");
	mib = truth_number(argv[1]);
	secs = truth_number(argv[2]);
	leader_exits = argc == 4 && !strcmp(argv[3], "exit");
	is_huge = argc == 4 && !strcmp(argv[3], "huge");
	if (!leader_exits)
		memory_hold_while_churning(NULL);
	leader = pthread_self();
	errno = pthread_create(&thread, NULL, memory_hold_while_churning, NULL);
	if (errno)
		truth_fail("pthread_create");
	pthread_exit(NULL);
}
