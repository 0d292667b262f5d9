/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the truth programs: errors end with exit code 99, CPU is burnt by the calling thread's
 * own clock, and what a program knows about itself is written to $TRUTH_OUT as one JSON object.
 */
#ifndef TRUTH_H
#define TRUTH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRUTH_ERROR 99 /* something failed; no output of the program may be trusted */
#define TRUTH_SKIP 77  /* the machine or its kernel lacks what the program needs */

#define RU_FMT                                                                                     \
	"\"user_seconds\":%.6f,\"system_seconds\":%.6f,\"cpu_seconds\":%.6f,\"maxrss_kb\":%ld,"    \
	"\"minflt\":%ld,\"majflt\":%ld,\"nvcsw\":%ld,\"nivcsw\":%ld"
#define RU_ARGS(ru)                                                                                \
	tv_seconds(&(ru)->ru_utime), tv_seconds(&(ru)->ru_stime), ru_seconds(ru), (ru)->ru_maxrss, \
		(ru)->ru_minflt, (ru)->ru_majflt, (ru)->ru_nvcsw, (ru)->ru_nivcsw

static const char *truth_out_kept;

static inline void truth_print_reason(const char *fmt, va_list ap)
{
	int err = errno;
	char buf[512];
	int n = vsnprintf(buf, sizeof(buf), fmt, ap);

	if (n < 0 || n >= (int)sizeof(buf))
		n = sizeof(buf) - 1;
	dprintf(2, "truth: %.*s%s%s\n", n, buf, err ? ": " : "", err ? strerror(err) : "");
}

/* Prints the reason on stderr (with errno, unless that is 0) and ends the process with 99. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void truth_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	truth_print_reason(fmt, ap);
	va_end(ap);
	_exit(TRUTH_ERROR);
}

/* The same with 77: the reason is what the machine or its kernel lacks. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void truth_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	truth_print_reason(fmt, ap);
	va_end(ap);
	_exit(TRUTH_SKIP);
}

__attribute__((noreturn)) static inline void truth_usage(const char *text)
{
	errno = 0;
	truth_fail("usage: %s", text);
}

/* A ring of io_uring; @params: struct io_uring_params. */
static inline int ring_setup(unsigned entries, void *params)
{
	int ring = (int)syscall(SYS_io_uring_setup, entries, params);

	if (ring < 0 && errno == ENOSYS)
		truth_skip("the kernel has no io_uring (CONFIG_IO_URING)");
	if (ring < 0 && errno == EPERM)
		truth_skip("io_uring is forbidden (kernel.io_uring_disabled, or seccomp)");
	if (ring < 0)
		truth_fail("io_uring_setup");
	return ring;
}

/* A number given as an argument; anything but a whole, not negative number is an error. */
static inline double truth_number(const char *text)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text || *end || !(value >= 0))
		truth_fail("not a number of zero or more: %s", text);
	return value;
}

static inline int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts))
		truth_fail("clock_gettime");
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* CPU of the whole own process until now, ended threads included. */
static inline double cpu_own_seconds(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

/* Burns the CPU of the calling thread, mostly in user mode: at least ns, about 10 us too much. */
static inline void spin_cpu_ns(int64_t ns)
{
	int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static inline void spin_ms(double ms)
{
	spin_cpu_ns((int64_t)(ms * 1e6));
}

/* Sleeps by the monotonic clock; signals do not shorten it. */
static inline void sleep_seconds(double seconds)
{
	int64_t end = clock_ns(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
	struct timespec ts = {.tv_sec = end / 1000000000, .tv_nsec = end % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static inline double tv_seconds(const struct timeval *tv)
{
	return tv->tv_sec + tv->tv_usec / 1e6;
}

static inline double ru_seconds(const struct rusage *ru)
{
	return tv_seconds(&ru->ru_utime) + tv_seconds(&ru->ru_stime);
}

static inline pid_t child_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		truth_fail("fork");
	return pid;
}

static inline int child_reap_usage(pid_t pid, struct rusage *ru)
{
	int status;

	while (wait4(pid, &status, 0, ru) < 0)
		if (errno != EINTR)
			truth_fail("wait4");
	return status;
}

/* Waits for a child and adds its CPU (its reaped children included) to *cpu. */
static inline int child_reap(pid_t pid, double *cpu)
{
	struct rusage ru;
	int status = child_reap_usage(pid, &ru);

	*cpu += ru_seconds(&ru);
	return status;
}

/* The same for a child that has to end with 0. */
static inline void child_reap_ok(pid_t pid, double *cpu)
{
	int status = child_reap(pid, cpu);

	errno = 0;
	if (status)
		truth_fail("a child ended with wait status 0x%x", status);
}

/* Memory that children made by fork share with their parent. */
static inline void *memory_map_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		truth_fail("mmap of shared memory");
	return p;
}

/* Anonymous memory of small pages, not touched yet. */
static inline char *memory_map_small(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		truth_fail("mmap of %zu bytes", size);
	if (madvise(p, size, MADV_NOHUGEPAGE) && errno != EINVAL)
		truth_fail("madvise");
	return p;
}

/* Writes one byte into each page. */
static inline void touch_pages(char *p, size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < size; i += page)
		*(volatile char *)(p + i) = 1;
}

static inline char *touch_mib(double mib)
{
	size_t size = (size_t)(mib * 1048576);
	char *p = memory_map_small(size);

	touch_pages(p, size);
	return p;
}

/* Creates or overwrites a file by exactly one write(). */
static inline void file_write_once(const char *path, const char *buf, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		truth_fail("%s", path);
	if (write(fd, buf, len) != (ssize_t)len)
		truth_fail("write of %s", path);
	close(fd);
}

static inline const char *truth_out(void)
{
	return truth_out_kept ? truth_out_kept : getenv("TRUTH_OUT");
}

/* For programs that exec others: these shall not write to the same witness. */
static inline void truth_out_hide(void)
{
	truth_out_kept = getenv("TRUTH_OUT");
	unsetenv("TRUTH_OUT");
}

/*
 * Writes the witness if TRUTH_OUT is set: the common keys, then those of fmt (with a comma
 * before each, or NULL). cpu_seconds is the own CPU until this call and that of the children, as
 * passed by the caller.
 */
__attribute__((format(printf, 4, 5))) static inline void
truth_write(long processes, long threads, double children_cpu, const char *fmt, ...)
{
	char buf[4096];
	int len, more = 0;
	va_list ap;
	double cpu;

	if (!truth_out())
		return;
	cpu = cpu_own_seconds() + children_cpu;
	len = snprintf(buf, sizeof(buf),
		       "{\"processes\":%ld,\"threads_created\":%ld,\"cpu_seconds\":%.9f,\"time\":%.6f",
		       processes, threads, cpu, clock_ns(CLOCK_REALTIME) / 1e9);
	if (fmt) {
		va_start(ap, fmt);
		more = vsnprintf(buf + len, sizeof(buf) - len, fmt, ap);
		va_end(ap);
	}
	if (more < 0 || (size_t)(len + more + 3) > sizeof(buf))
		truth_fail("the witness is too long");
	len += more;
	memcpy(buf + len, "}\n", 2);
	file_write_once(truth_out(), buf, len + 2);
}

#endif
