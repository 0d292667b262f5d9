/* SPDX-License-Identifier: BSD-2-Clause */
/* Protocol between a service and systemd: sd_notify(3), watchdog, sd_listen_fds(3). */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include <stddef.h>
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

/*
 * Descriptors that outlive this process: the service manager keeps them for the next one, if the
 * service has FileDescriptorStoreMax=.
 */

/*
 * Gives the manager a copy of @fd to keep as @name. Returns 0 or a negative errno, -ENOENT without
 * a manager. Whether it keeps the copy is not known.
 */
int notify_keep(const char *name, int fd);
/* Asks the manager to close what it keeps as @name. */
void notify_forget(const char *name);
/*
 * Waits until the manager has handled all messages sent before, for up to @timeout_ms. Returns 0 or
 * a negative errno.
 */
int notify_wait(int timeout_ms);
/* Names of kept descriptors begin with this, so that they differ from those of sockets. */
#define NOTIFY_KEPT "kept-"
/*
 * Calls @each for a copy of each kept descriptor; it takes ownership of @fd. Call before
 * notify_take_socket().
 */
void notify_each_kept(void (*each)(void *context, const char *name, int fd), void *context);

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
