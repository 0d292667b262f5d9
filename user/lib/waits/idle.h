/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether processes that do nothing have nothing to do: a server without requests. */
#ifndef WAITS_IDLE_H
#define WAITS_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether the processes @pids of one run or job wait for requests: one of them at least waits for
 * connections or datagrams, or reads a terminal; the others wait for their children, or belong to
 * such a one and wait for work. No thread waits for a lock, a disk or a full pipe. What may not be
 * read is not idle. Reads /proc only.
 */
bool processes_are_idle(const int32_t *pids, size_t nr);

#endif
