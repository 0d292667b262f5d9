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

static void *nothing(void *arg)
{
	return arg;
}

static void hold(void)
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
		_exit(TRUTH_SKIP);
	touch_pages(p, size);
}

static void *work(void *arg)
{
	int64_t held_ns, end_ns;
	long threads = leader_exits;
	pthread_t thread;

	if (leader_exits)
		pthread_join(leader, NULL);
	hold();
	held_ns = clock_ns(CLOCK_BOOTTIME);
	for (end_ns = held_ns + (int64_t)(secs * 1e9); clock_ns(CLOCK_BOOTTIME) < end_ns; threads++) {
		errno = pthread_create(&thread, NULL, nothing, NULL);
		if (errno)
			die("pthread_create");
		pthread_join(thread, NULL);
		sleep_seconds(0.0005);
	}
	tell(1, threads, 0, ",\"held_seconds\":%.9f,\"freed_seconds\":%.9f", held_ns / 1e9,
	     clock_ns(CLOCK_BOOTTIME) / 1e9);
	_exit(0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3 || argc > 4)
		usage("churn MIB SECS [exit|huge]");
	mib = number(argv[1]);
	secs = number(argv[2]);
	leader_exits = argc == 4 && !strcmp(argv[3], "exit");
	is_huge = argc == 4 && !strcmp(argv[3], "huge");
	if (!leader_exits)
		work(NULL);
	leader = pthread_self();
	errno = pthread_create(&thread, NULL, work, NULL);
	if (errno)
		die("pthread_create");
	pthread_exit(NULL);
}
