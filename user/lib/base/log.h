/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages on stderr: one line each, with the prefix "bpfmon: ", written in one piece. If stderr is
 * the journal, each has its priority.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_NORMAL, LOG_VERBOSE };

/* Returns true if an allocation has failed since the last message. */
bool log_has_unreported_failure(void);

void log_set_level(enum log_level level);
/* From now on drops a line if a stopped terminal or a full pipe blocks it for a second. */
void log_limit_waits(void);

/* Reports a failure. Always shown. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports a problem that does not end the run. Always shown. */
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports what was done or chosen. Always shown. */
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Shown with --verbose: at most 200 at once and 10 a second, then a count of the omitted lines. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
