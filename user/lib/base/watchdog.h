/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the service manager, often enough and not oftener, that the event loop still turns. */
#ifndef BASE_WATCHDOG_H
#define BASE_WATCHDOG_H

#include <stdint.h>

struct watchdog {
	uint64_t interval_ns; /* between two messages; 0: they are not waited for */
	uint64_t due_ns;      /* CLOCK_MONOTONIC */
};

/* The first message is due at once. */
void watchdog_open(struct watchdog *w);
/* The longest wait until the next message, no more than @wait_ms (-1: no limit). */
int watchdog_wait(const struct watchdog *w, int wait_ms);
/* Sends the message if it is due. */
void watchdog_attend(struct watchdog *w);

#endif
