// SPDX-License-Identifier: BSD-2-Clause
#include "base/watchdog.h"

#include "base/clock.h"
#include "base/notify.h"

#include <limits.h>

#define IN_THE_TIME_ALLOWED 3 /* messages: one may be late */

void watchdog_open(struct watchdog *w)
{
	*w = (struct watchdog){ .interval_ns = notify_watchdog_ns() / IN_THE_TIME_ALLOWED };
}

int watchdog_wait(const struct watchdog *w, int wait_ms)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), left_ms;

	if (!w->interval_ns)
		return wait_ms;
	left_ms = w->due_ns > now_ns ? (w->due_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;
	if (wait_ms >= 0 && left_ms > (uint64_t)wait_ms)
		return wait_ms;
	return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

void watchdog_attend(struct watchdog *w)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!w->interval_ns || now_ns < w->due_ns)
		return;
	notify_send("WATCHDOG=1");
	w->due_ns = now_ns + w->interval_ns;
}
