/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors that packets over Unix sockets bring, and sockets that take none. */
#ifndef BASE_FD_PASSING_H
#define BASE_FD_PASSING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif

#define FDS_AT_ONCE 253 /* the most that the kernel passes with one packet */

/* Room for them, aligned as the kernel's macros want it; zeroed. */
union passed_fds {
	struct cmsghdr header;
	char room[CMSG_SPACE(FDS_AT_ONCE * sizeof(int))];
};

/* Has @h send @nr descriptors, in @room, which is used until then. 0: none. */
void fds_put(struct msghdr *h, union passed_fds *room, const int *fds, size_t nr);
/* Reads those that have come with @h; returns how many. The caller owns them. */
size_t fds_read(struct msghdr *h, int fds[FDS_AT_ONCE]);

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
