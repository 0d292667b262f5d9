// SPDX-License-Identifier: BSD-2-Clause
/*
 * Wrappers of system calls by the program or a library; calls that the C library makes within its
 * own functions are not wrapped. Declared here instead of by headers, as only passing on the
 * arguments matters.
 */
#include "fault.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>

/* clang-format off */
#define CALL(name, type, parameters, arguments)             \
	type name parameters;                               \
	type name parameters                                \
	{                                                   \
		static type (*next) parameters;             \
		if (!next)                                  \
			*(void **)&next = dlsym(RTLD_NEXT, #name); \
		return fault_is_due(#name) ? -1 : next arguments; \
	}
#include "calls.def"

/* open() has a mode only with some flags; passing on a random one does no harm. */
#define OPEN(name, type, parameters, arguments, last)       \
	type name parameters;                               \
	type name parameters                                \
	{                                                   \
		static type (*next)(); /* NOLINT */         \
		va_list args;                               \
		unsigned mode;                              \
		va_start(args, last);                       \
		mode = va_arg(args, unsigned);              \
		va_end(args);                               \
		if (!next)                                  \
			*(void **)&next = dlsym(RTLD_NEXT, #name); \
		return fault_is_due(#name) ? -1 : next arguments; \
	}
OPEN(open, int, (const char *path, int flags, ...), (path, flags, mode), flags)
OPEN(open64, int, (const char *path, int flags, ...), (path, flags, mode), flags)
OPEN(openat, int, (int in, const char *path, int flags, ...), (in, path, flags, mode), flags)
OPEN(openat64, int, (int in, const char *path, int flags, ...), (in, path, flags, mode), flags)
/* clang-format on */

void *mmap(void *at, size_t n, int protection, int flags, int fd, long offset);
void *mmap(void *at, size_t n, int protection, int flags, int fd, long offset)
{
	static void *(*next)(void *, size_t, int, int, int, long);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "mmap");
	return fault_is_due("mmap") ? (void *)-1 : next(at, n, protection, flags, fd, offset);
}

void *fopen(const char *path, const char *mode);
void *fopen(const char *path, const char *mode)
{
	static void *(*next)(const char *, const char *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "fopen");
	return fault_is_due("fopen") ? NULL : next(path, mode);
}

int pthread_create(void *thread, const void *attributes, void *(*start)(void *), void *context);
int pthread_create(void *thread, const void *attributes, void *(*start)(void *), void *context)
{
	static int (*next)(void *, const void *, void *(*)(void *), void *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return fault_is_due("pthread_create") ? 11 /* EAGAIN */
					      : next(thread, attributes, start, context);
}

/* bpf(2), perf_event_open(2) and others that have no function of their own. */
long syscall(long number, ...);
long syscall(long number, ...)
{
	static long (*next)(long, ...);
	va_list args;
	long a[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return fault_is_due("syscall") ? -1 : next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
