/* SPDX-License-Identifier: BSD-2-Clause */
/* What a service tells systemd, and gets from it: sd_notify(3) and sd_listen_fds(3), where the
 * service was started by it. */
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

#endif
