/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the workloads of the benchmark: the clock, the arguments, and the report of how long
 * the workload itself took (one JSON object into the file named by BENCH_OUT, or on standard
 * output).
 */
#ifndef BENCH_H
#define BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline void __attribute__((noreturn)) usage(const char *text)
{
	fprintf(stderr, "usage: %s\n", text);
	exit(2);
}

static inline long number(const char *text, const char *help)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < 1)
		usage(help);
	return n;
}

static inline double now(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts))
		die("clock_gettime");
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static inline double cpu_of(int who)
{
	struct rusage ru;

	if (getrusage(who, &ru))
		die("getrusage");
	return ru.ru_utime.tv_sec + ru.ru_stime.tv_sec +
	       (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}

/* The CPU is that of this process and of the children it has reaped. */
static inline void report(double seconds)
{
	double cpu = cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);
	const char *path = getenv("BENCH_OUT");
	FILE *out = path ? fopen(path, "w") : stdout;

	if (!out)
		die(path);
	if (fprintf(out, "{\"seconds\":%.9f,\"cpu_seconds\":%.6f}\n", seconds, cpu) < 0)
		die("report");
	if (fflush(out) || (path && fclose(out)))
		die("report");
}

static inline pid_t xfork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	return pid;
}

/* Waits for one child; its exit code, or 128 + the signal that ended it. */
static inline int reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif /* BENCH_H */
