/* SPDX-License-Identifier: BSD-2-Clause */
/* Protocol between a service and systemd: sd_notify(3), watchdog, sd_listen_fds(3). */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include <stdint.h>

/* Sends @state, for instance "READY=1". Does nothing without a service manager. */
void notify_send(const char *state);
/* Reports that the configuration is being read; READY=1 ends that. */
void notify_reloading(void);
/* Returns the longest time between two WATCHDOG=1 messages in ns; 0: no limit. */
uint64_t notify_watchdog_ns(void);
/*
 * Returns the first passed socket that listens and is AF_UNIX and of @type (SOCK_...), set to
 * non-blocking and close-on-exec; the caller owns it. Closes the others and unsets the variables.
 * Returns -1 if no socket was passed, -EPROTOTYPE if none fits.
 */
int notify_take_socket(int type);

/* Watchdog: reports periodically that the event loop still runs. */

struct watchdog {
	uint64_t interval_ns; /* between two messages; 0 if not required */
	uint64_t due_ns;      /* CLOCK_MONOTONIC */
};

/* Makes the first message due at once. */
void watchdog_open(struct watchdog *w);
/*
 * Returns the time until the next message is due in ms, but not more than @wait_ms (-1: no limit).
 */
int watchdog_wait(const struct watchdog *w, int wait_ms);
void watchdog_send_due(struct watchdog *w);

#endif
