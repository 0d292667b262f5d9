// SPDX-License-Identifier: BSD-2-Clause
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static atomic_size_t failures;
static _Thread_local size_t failures_of_thread;

void memory_count_failure(void)
{
	failures++;
	failures_of_thread++;
}

size_t memory_failures(void)
{
	return failures;
}

size_t memory_failures_of_thread(void)
{
	return failures_of_thread;
}

bool memory_has_failed(void)
{
	return failures > 0;
}

/* Functions of the C library that return NULL for any failure: only lack of memory counts. */
/* clang-format off */
#define WRAP(type, name, parameters, arguments)		\
	type __real_##name parameters;			\
	type __wrap_##name parameters;			\
	type __wrap_##name parameters			\
	{						\
		type got = __real_##name arguments;	\
		if (!got && errno == ENOMEM)		\
			memory_count_failure();			\
		return got;				\
	}
WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *old, size_t size), (old, size))
WRAP(void *, reallocarray, (void *old, size_t n, size_t size), (old, n, size))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t n), (text, n))
WRAP(char *, realpath, (const char *path, char *to), (path, to))
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode))
WRAP(FILE *, fmemopen, (void *at, size_t size, const char *mode), (at, size, mode))
WRAP(FILE *, tmpfile, (void), ())
WRAP(DIR *, opendir, (const char *path), (path))
/* clang-format on */

ssize_t __wrap_getline(char **text, size_t *room, FILE *f);
ssize_t __wrap___getdelim(char **text, size_t *room, int end, FILE *f);
struct tm *__real_localtime_r(const time_t *at, struct tm *tm);
struct tm *__wrap_localtime_r(const time_t *at, struct tm *tm);
time_t __real_mktime(struct tm *tm);
time_t __wrap_mktime(struct tm *tm);
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int __real_vasprintf(char **text, const char *format, va_list args);
int __wrap_vasprintf(char **text, const char *format, va_list args);
int __wrap___vasprintf_chk(char **text, int flag, const char *format, va_list args);
int __real_scandir(const char *path, struct dirent ***found, int (*takes)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **));
int __wrap_scandir(const char *path, struct dirent ***found, int (*takes)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **));

/* The C library returns -1 without memory, as at the end of the file. With optimization getline()
 * is this function. */
ssize_t __wrap___getdelim(char **text, size_t *room, int end, FILE *f)
{
	ssize_t n;

	errno = 0;
	n = getdelim(text, room, end, f);
	if (n < 0 && errno == ENOMEM)
		memory_count_failure();
	return n;
}

ssize_t __wrap_getline(char **text, size_t *room, FILE *f)
{
	return __wrap___getdelim(text, room, '\n', f);
}

/* Without memory for the time zone the C library falls back to UTC. */
struct tm *__wrap_localtime_r(const time_t *at, struct tm *tm)
{
	int before = errno;

	errno = 0;
	tm = __real_localtime_r(at, tm);
	if (errno == ENOMEM)
		memory_count_failure();
	errno = before;
	return tm;
}

time_t __wrap_mktime(struct tm *tm)
{
	int before = errno;
	time_t at;

	errno = 0;
	at = __real_mktime(tm);
	if (errno == ENOMEM)
		memory_count_failure();
	errno = before;
	return at;
}

int __wrap_vasprintf(char **text, const char *format, va_list args)
{
	int n = __real_vasprintf(text, format, args);

	if (n < 0) {
		memory_count_failure();
		*text = NULL;
	}
	return n;
}

int __wrap___vasprintf_chk(char **text, int flag, const char *format, va_list args)
{
	(void)flag;
	return __wrap_vasprintf(text, format, args);
}

int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = __wrap_vasprintf(text, format, args);
	va_end(args);
	return n;
}

int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
{
	va_list args;
	int n;

	(void)flag;
	va_start(args, format);
	n = __wrap_vasprintf(text, format, args);
	va_end(args);
	return n;
}

int __wrap_scandir(const char *path, struct dirent ***found, int (*takes)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	int n = __real_scandir(path, found, takes, compare);

	if (n < 0 && errno == ENOMEM)
		memory_count_failure();
	return n;
}
