/* SPDX-License-Identifier: BSD-2-Clause */
/* Diagnostics on stderr: one line each, "bpfmon: " before it, written whole. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_NORMAL, LOG_VERBOSE };

/* Whether an allocation has failed since the last line, which would have said so. */
bool log_owes_memory(void);

void log_set_level(enum log_level level);
/* From here on a line that a stopped terminal or a full pipe does not take within a second is lost.
 */
void log_hurry(void);

/* Something failed: always shown. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Something went wrong that the run survives: always shown. */
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Shown with --verbose. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
