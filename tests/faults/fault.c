// SPDX-License-Identifier: BSD-2-Clause
#include "fault.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAMES 40

static char kind_due[32], report_path[PATH_MAX];
static long first, number = 1, wanted_process, process, forks;
static int error = ENOMEM;
static bool is_on, has_trace;
static atomic_long calls;

static long number_of(const char *name, long otherwise)
{
	const char *text = getenv(name);
	long n = text ? atol(text) : otherwise;

	unsetenv(name);
	return n;
}

static void text_of(const char *name, char *to, size_t size)
{
	const char *text = getenv(name);

	snprintf(to, size, "%s", text ? text : "");
	unsetenv(name);
}

static void count_fork(void)
{
	forks++;
}

/* A child of a child cannot be chosen by FAULT_PROCESS. */
static void fault_begin_child(void)
{
	process = process ? LONG_MAX : forks;
	calls = 0;
}

__attribute__((constructor)) static void fault_begin(void)
{
	void *frames[FRAMES];

	text_of("FAULT", kind_due, sizeof(kind_due));
	text_of("FAULT_REPORT", report_path, sizeof(report_path));
	first = number_of("FAULT_AT", 1);
	number = number_of("FAULT_NUMBER", 1);
	error = (int)number_of("FAULT_ERROR", ENOMEM);
	wanted_process = number_of("FAULT_PROCESS", 0);
	has_trace = getenv("FAULT_TRACE");
	unsetenv("FAULT_TRACE");
	unsetenv("LD_PRELOAD");
	if (has_trace)
		backtrace(frames, FRAMES); /* the first call allocates */
	pthread_atfork(count_fork, NULL, fault_begin_child);
	is_on = kind_due[0];
}

static void fault_report(const char *kind)
{
	char line[100];
	void *frames[FRAMES];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, report_path, O_WRONLY | O_APPEND | O_CLOEXEC);
	long n = snprintf(line, sizeof(line), "%s %ld\n", kind, first);

	n = syscall(SYS_write, fd, line, n);
	if (has_trace)
		backtrace_symbols_fd(frames, backtrace(frames, FRAMES), fd);
	syscall(SYS_close, fd);
}

bool fault_is_due(const char *kind)
{
	static _Thread_local bool is_busy;
	long n;

	if (!is_on || is_busy || process != wanted_process || strcmp(kind, kind_due) != 0)
		return false;
	n = ++calls;
	if (n < first || (number && n >= first + number))
		return false;
	is_busy = true;
	if (n == first)
		fault_report(kind);
	is_busy = false;
	errno = error;
	return true;
}
