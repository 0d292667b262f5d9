/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the threads of a process by what they wait for, as cheaply as possible: two or three small
 * files of /proc for each thread, no search for holders.
 */
#ifndef WAITS_SLEEPERS_H
#define WAITS_SLEEPERS_H

#include "run/waited.h"

#include <sys/types.h>

/*
 * Adds the threads of @pid that wait to @counts, those whose wait is not readable to W_wait_unseen.
 * Examines some of them if there are more than 32 @threads, others with each @turn. Returns the
 * number of examined threads, or a negative errno.
 */
int sleepers_count(pid_t pid, unsigned threads, unsigned turn, unsigned counts[NR_WAITED]);

#endif
