/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clocks in ns: MONOTONIC for intervals, BOOTTIME for start times as the kernel records them,
 * REALTIME once, for the epoch.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

/* Compares signed: times before the zero of a time namespace's clock are negative. */
static inline bool is_earlier(uint64_t a_ns, uint64_t b_ns)
{
	return (int64_t)a_ns < (int64_t)b_ns;
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

#endif
