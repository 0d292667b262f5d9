/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of options. Functions of a void pointer are parsers of rows: it points to the type that is
 * named. 0; or -EINVAL: @text is no such value, and nothing is changed.
 */
#ifndef OPTIONS_OPTION_VALUES_H
#define OPTIONS_OPTION_VALUES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* bool: becomes true. */
int flag_parse(void *value, const char *text);
/* const char *: @text itself, which is not empty. */
int text_parse(void *value, const char *text);
/* uint64_t: nanoseconds, more than 0; as time_parse(). */
int duration_parse(void *value, const char *text);
/* uint64_t: bytes: 500MiB, 2G: powers of 1024. */
int size_parse(void *value, const char *text);
/*
 * uint64_t: ns since 1970; at least 1. A span before now (7d, 12h, 30m, 90s, 2w), or a local date:
 * 2025-12-24, 2025-12-24 18:30.
 */
int moment_parse(void *value, const char *text);

/* Digits only: @min to @max. */
int number_parse(const char *text, unsigned long min, unsigned long max, unsigned *number);
/* The number of a process. */
int process_parse(const char *text, pid_t *pid);
/* Digits and a point: no blanks, signs, "inf", hexadecimals; what follows them is at *@end. */
int decimal_parse(const char *text, double *number, char **end);
/* Seconds, with or without "s" behind them, or milliseconds with "ms"; a week is the longest. */
int time_parse(const char *text, uint64_t *ns);
/* The place of @text in @words, or -EINVAL. */
int word_find(const char *const *words, size_t nr, const char *text);

#endif
