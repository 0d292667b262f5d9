/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parsers of option values. A void pointer is that of an option row, to the type in the comment.
 * All return 0, or -EINVAL with the value unchanged if @text is invalid; they then also describe
 * the values that they accept, by value_refuse().
 */
#ifndef OPTIONS_OPTION_VALUES_H
#define OPTIONS_OPTION_VALUES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Describes the accepted values to the caller of the parser, as in "a time, as in 1, 0.1 or 10ms".
 * Returns -EINVAL.
 */
__attribute__((format(printf, 1, 2))) int value_refuse(const char *format, ...);
/* Returns the description by the last value_refuse() since value_expectation_clear(), or "". */
const char *value_expectation(void);
void value_expectation_clear(void);

/* bool: set to true. */
int flag_parse(void *value, const char *text);
/* const char *: set to @text, which must not be empty. */
int text_parse(void *value, const char *text);
/* uint64_t: nanoseconds above 0, in the syntax of time_parse(). */
int duration_parse(void *value, const char *text);
/* uint64_t: bytes such as 500MiB or 2G, in powers of 1024. */
int size_parse(void *value, const char *text);
/*
 * uint64_t: ns since 1970, at least 1; a span before now (7d, 12h, 30m, 90s, 2w) or a local date
 * (2025-12-24 18:30).
 */
int moment_parse(void *value, const char *text);

/* Parses digits only, from @min to @max. */
int number_parse(const char *text, unsigned long min, unsigned long max, unsigned *number);
/* Parses a PID. */
int process_parse(const char *text, pid_t *pid);
/* Parses digits and a point: no signs, "inf" or hexadecimals. Sets *@end to the rest. */
int decimal_parse(const char *text, double *number, char **end);
/* Parses seconds, with or without "s", or milliseconds with "ms", up to a week. */
int time_parse(const char *text, uint64_t *ns);
/* Returns the index of @text in @words, or -EINVAL. */
int word_find(const char *const *words, size_t nr, const char *text);

#endif
