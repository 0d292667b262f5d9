/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far long work of our own has come: one line on stderr, if that is a terminal, from half a
 * second on, removed at the end. There is one work at a time in a process, of its first thread;
 * without one, and where stderr is no terminal, the calls do nothing and cost nothing.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Begins work of @total steps (0: not known), shown as "@what: 1,200 of 5,000 @unit". Both texts
 * are literals, or as long in use as the work.
 */
void progress_begin(const char *what, const char *unit, uint64_t total);
/* So many steps more are done. */
void progress_add(uint64_t steps);
/* Takes the line away, for something else to be printed; the work goes on. */
void progress_clear(void);
/* The same, and the work is done. Also without a begin. */
void progress_end(void);
/* Note that another line of this process, as the status line of a run, is where the work would be
 * shown: it is cleared before messages. */
void progress_set_shown(bool is_shown);

#endif
