/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets over which no process needs to send descriptors. */
#ifndef BASE_REFUSE_RIGHTS_H
#define BASE_REFUSE_RIGHTS_H

#include <stdbool.h>
#include <sys/socket.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif

/*
 * From now on, and for connections that the listening socket @fd accepts, the kernel refuses a
 * packet with descriptors where it is sent (EPERM). False: it does not, before Linux 6.16.
 */
static inline bool socket_refuse_rights(int fd)
{
	static const int off = 0;

	return !setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
}

/* Whether it does so now. */
static inline bool socket_refuses_rights(int fd)
{
	socklen_t size = sizeof(int);
	int is_on = 1;

	return !getsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &is_on, &size) && !is_on;
}

#endif
