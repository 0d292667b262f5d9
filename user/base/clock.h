/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks in nanoseconds: MONOTONIC for intervals, BOOTTIME for the kernel's start times, REALTIME
 * once, for the epoch. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

#endif
