/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages on stderr: one line each, with the prefix "bpfmon: ", written whole. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_NORMAL, LOG_VERBOSE };

/* Whether an allocation has failed since the last line: no message has reported that yet. */
bool log_has_unreported_failure(void);

void log_set_level(enum log_level level);
/* From here on a line is dropped if a stopped terminal or full pipe blocks it for a second. */
void log_limit_waits(void);

/* For what failed: always shown. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For what went wrong without ending the run: always shown. */
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For what a user should know of what was done or chosen: always shown. */
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Shown with --verbose: 200 at once, 10 a second, then the number of those that are left out. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
