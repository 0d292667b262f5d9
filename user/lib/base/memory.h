/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations. Each function works like that of the C library without memory_, except when out of
 * memory: a program that only reads and prints has called memory_exit_on_failure() and ends with
 * one line; elsewhere the failure is counted and the caller gets the result of the C library, so
 * that one check at the end of an output shows if it is complete. No other file calls the functions
 * of the C library.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

/*
 * Makes jansson and SQLite count failures, too. To be called before these are used. Returns 0 or a
 * negative errno.
 */
int memory_init(void);
void memory_init_jansson(void);
/*
 * Chooses whether a failed allocation prints one line and ends the process with EXIT_USAGE (@does),
 * or is counted, the default. Returns the previous choice.
 */
bool memory_exit_on_failure(bool does);
/* Sets a function to be called before the process ends for lack of memory; may be NULL. */
void memory_set_undo(void (*undo)(void));
/* Counts a failed allocation of the calling thread, which the caller reports. */
void memory_count_failure(void);
size_t memory_failures(void);
size_t memory_failures_of_thread(void);
bool memory_has_failed(void);

void *memory_malloc(size_t size) __attribute__((malloc, alloc_size(1)));
void *memory_calloc(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2)));
void *memory_realloc(void *old, size_t size) __attribute__((alloc_size(2)));
void *memory_reallocarray(void *old, size_t n, size_t size) __attribute__((alloc_size(2, 3)));
char *memory_strdup(const char *text) __attribute__((malloc));
char *memory_strndup(const char *text, size_t n) __attribute__((malloc));
/* On failure *@text is NULL. */
int memory_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int memory_vasprintf(char **text, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
ssize_t memory_getline(char **text, size_t *room, FILE *f);
char *memory_realpath(const char *path, char *to);
FILE *memory_fopen(const char *path, const char *mode);
FILE *memory_fdopen(int fd, const char *mode);
FILE *memory_fmemopen(void *at, size_t size, const char *mode);
FILE *memory_tmpfile(void);
DIR *memory_opendir(const char *path);
int memory_scandir(const char *path, struct dirent ***found, int (*takes)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **));
/* If out of memory for the time zone, the C library falls back to UTC. */
struct tm *memory_localtime_r(const time_t *at, struct tm *tm);
time_t memory_mktime(struct tm *tm);
time_t memory_timegm(struct tm *tm);
/*
 * Like open_memstream(), but the text is available only after fclose(), which fails if memory ran
 * out. The C library's version silently drops what it has no memory for.
 */
FILE *memory_open_memstream(char **text, size_t *length);

#endif
