// SPDX-License-Identifier: BSD-2-Clause
#include "base/memory.h"

#include "base/exit_status.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_size_t failures;
static _Thread_local size_t failures_of_thread;
static atomic_bool exits;
static void (*undo_before_exit)(void);

bool memory_exit_on_failure(bool does)
{
	return atomic_exchange(&exits, does);
}

void memory_set_undo(void (*undo)(void))
{
	undo_before_exit = undo;
}

void memory_count_failure(void)
{
	failures++;
	failures_of_thread++;
}

/*
 * Ends the process or counts the failure. Not by exit(): the caller may be any thread, or a child
 * that shares the buffers of stdio.
 */
static void memory_fail(void)
{
	static const char text[] = "bpfmon: out of memory\n";
	static atomic_flag is_ending = ATOMIC_FLAG_INIT;
	ssize_t n;

	memory_count_failure();
	if (!exits || atomic_flag_test_and_set(&is_ending))
		return;
	if (undo_before_exit)
		undo_before_exit();
	n = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)n; /* without stderr only the status is left */
	_exit(EXIT_USAGE);
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

/* For functions that return NULL for any failure: only ENOMEM counts. */
static void *memory_check(void *got)
{
	if (!got && errno == ENOMEM)
		memory_fail();
	return got;
}

void *memory_malloc(size_t size)
{
	return memory_check(malloc(size));
}

void *memory_calloc(size_t n, size_t size)
{
	return memory_check(calloc(n, size));
}

void *memory_realloc(void *old, size_t size)
{
	return memory_check(realloc(old, size));
}

void *memory_reallocarray(void *old, size_t n, size_t size)
{
	return memory_check(reallocarray(old, n, size));
}

char *memory_strdup(const char *text)
{
	return memory_check(strdup(text));
}

char *memory_strndup(const char *text, size_t n)
{
	return memory_check(strndup(text, n));
}

char *memory_realpath(const char *path, char *to)
{
	return memory_check(realpath(path, to));
}

FILE *memory_fopen(const char *path, const char *mode)
{
	return memory_check(fopen(path, mode));
}

FILE *memory_fdopen(int fd, const char *mode)
{
	return memory_check(fdopen(fd, mode));
}

FILE *memory_fmemopen(void *at, size_t size, const char *mode)
{
	return memory_check(fmemopen(at, size, mode));
}

FILE *memory_tmpfile(void)
{
	return memory_check(tmpfile());
}

DIR *memory_opendir(const char *path)
{
	return memory_check(opendir(path));
}

/* getline() returns -1 both at the end of the file and when out of memory. */
ssize_t memory_getline(char **text, size_t *room, FILE *f)
{
	ssize_t n;

	errno = 0;
	n = getline(text, room, f);
	if (n < 0 && errno == ENOMEM)
		memory_fail();
	return n;
}

struct tm *memory_localtime_r(const time_t *at, struct tm *tm)
{
	int before = errno;

	errno = 0;
	tm = localtime_r(at, tm);
	if (errno == ENOMEM)
		memory_fail();
	errno = before;
	return tm;
}

/* @convert is mktime() or timegm(). */
static time_t memory_convert(struct tm *tm, time_t (*convert)(struct tm *tm))
{
	int before = errno;
	time_t at;

	errno = 0;
	at = convert(tm);
	if (errno == ENOMEM)
		memory_fail();
	errno = before;
	return at;
}

time_t memory_mktime(struct tm *tm)
{
	return memory_convert(tm, mktime);
}

time_t memory_timegm(struct tm *tm)
{
	return memory_convert(tm, timegm);
}

int memory_vasprintf(char **text, const char *format, va_list args)
{
	int n = vasprintf(text, format, args);

	if (n < 0) {
		memory_fail();
		*text = NULL;
	}
	return n;
}

int memory_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = memory_vasprintf(text, format, args);
	va_end(args);
	return n;
}

int memory_scandir(const char *path, struct dirent ***found, int (*takes)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	int n = scandir(path, found, takes, compare);

	if (n < 0 && errno == ENOMEM)
		memory_fail();
	return n;
}

struct memory_stream {
	char **text;
	size_t *length;
	char *all; /* handed to the caller when the stream is closed */
	size_t used, room;
	bool has_failed;
};

static bool memory_stream_reserve(struct memory_stream *s, size_t n)
{
	size_t room = (s->used + n + 1) * 2;
	char *all;

	if (s->used + n < s->room)
		return true;
	all = memory_realloc(s->all, room);
	if (!all) {
		s->has_failed = true;
		return false;
	}
	s->all = all;
	s->room = room;
	return true;
}

static ssize_t memory_stream_write(void *context, const char *from, size_t n)
{
	struct memory_stream *s = context;

	if (s->has_failed || !memory_stream_reserve(s, n))
		return 0; /* means an error to the C library */
	memcpy(s->all + s->used, from, n);
	s->used += n;
	return (ssize_t)n;
}

/* Only for ftell(): written bytes cannot be changed. */
static int memory_stream_seek(void *context, off64_t *offset, int whence)
{
	const struct memory_stream *s = context;

	if (whence == SEEK_SET || *offset) {
		errno = ESPIPE;
		return -1;
	}
	*offset = (off64_t)s->used;
	return 0;
}

static int memory_stream_close(void *context)
{
	struct memory_stream *s = context;
	bool is_whole = !s->has_failed && memory_stream_reserve(s, 0);

	if (is_whole) {
		s->all[s->used] = '\0';
		*s->text = s->all;
		*s->length = s->used;
	} else {
		free(s->all);
	}
	free(s);
	return is_whole ? 0 : -1;
}

FILE *memory_open_memstream(char **text, size_t *length)
{
	struct memory_stream *s = memory_calloc(1, sizeof(*s));
	FILE *f;

	*text = NULL;
	*length = 0;
	if (!s)
		return NULL;
	s->text = text;
	s->length = length;
	f = fopencookie(s, "w",
			(cookie_io_functions_t){ .write = memory_stream_write,
						 .seek = memory_stream_seek,
						 .close = memory_stream_close });
	if (!f) {
		memory_fail();
		free(s);
	}
	return f;
}
