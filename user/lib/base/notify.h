/* SPDX-License-Identifier: BSD-2-Clause */
/* The protocol between a service and systemd: sd_notify(3), its watchdog, and sockets by
 * sd_listen_fds(3). */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include <stdint.h>

/* Sends @state, such as "READY=1"; without a service manager it does nothing. */
void notify_send(const char *state);
/* Sends that the configuration is being read again; READY=1 ends that. */
void notify_reloading(void);
/* How long this process may be silent, ns; then WATCHDOG=1 is missed. 0: as long as it likes. */
uint64_t notify_watchdog_ns(void);
/*
 * The first of the sockets that were passed that listens, as AF_UNIX and of @type (SOCK_...): the
 * caller owns it, it does not block, and no program that is executed gets it. The others are
 * closed, and the variables are gone, so that a second call finds none. -1: none was passed;
 * -EPROTOTYPE: some were, but none is such.
 */
int notify_take_socket(int type);

/* Reports to the service manager in intervals that the event loop still runs. */

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
