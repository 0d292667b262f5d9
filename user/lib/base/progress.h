/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress of long work: one line on stderr, if that is a terminal, from half a second on, removed
 * at the end. A process has one at a time, in its first thread. Without one, or without a terminal,
 * the calls do nothing.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Begins work of @total steps (0: unknown), shown as "@what: 1,200 of 5,000 @unit". Both strings
 * must outlive the work.
 */
void progress_begin(const char *what, const char *unit, uint64_t total);
void progress_add(uint64_t steps);
/* Removes the line before something else is printed. */
void progress_clear(void);
/* Removes the line and ends the work, if there is any. */
void progress_end(void);
/*
 * Notes that another line, as the status line of a run, is shown instead and has to be cleared
 * before messages.
 */
void progress_set_shown(bool is_shown);

#endif
