// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread that is not the leader burns 20 ms of CPU and execs a program, while the leader and one
 * thread burn and two sleep until the exec kills them: the pid stays, 4 threads were made, and the
 * process clock in the new program still holds the CPU of them all. $TRUTH_OUT is left to the new
 * program; the clock just before the exec goes to $TRUTH_BEFORE.
 * Usage: threadexec PATH [ARGS]
 */
#include "truth.h"
#include <pthread.h>

static void *thread_burn(void *arg)
{
	for (;;)
		spin_ms(1);
	return arg;
}

static void *thread_sleep(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void *thread_exec(void *arg)
{
	const char *before = getenv("TRUTH_BEFORE");
	char buf[160], **argv = arg;
	int len;

	spin_ms(20);
	if (before) {
		len = snprintf(buf, sizeof(buf),
			       "{\"cpu_before_seconds\":%.9f,\"threads_created\":4,"
			       "\"own_seconds\":%.9f}\n",
			       cpu_own_seconds(), clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e9);
		file_write_once(before, buf, len);
	}
	execv(argv[0], argv);
	truth_fail("exec of %s", argv[0]);
}

int main(int argc, char **argv)
{
	void *(*work[])(void *) = {thread_sleep, thread_sleep, thread_burn, thread_exec};
	pthread_t thread;

	if (argc < 2)
		truth_usage("threadexec PATH [ARGS]");
	for (int i = 0; i < 4; i++) {
		errno = pthread_create(&thread, NULL, work[i], argv + 1);
		if (errno)
			truth_fail("pthread_create");
	}
	thread_burn(NULL);
}
