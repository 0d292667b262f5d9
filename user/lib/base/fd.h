/* SPDX-License-Identifier: BSD-2-Clause */
/* File descriptors: passed over Unix sockets, closed without waiting, read whole, of processes. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

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

/*
 * Closes sockets on which untrusted processes may have sent descriptors. The kernel drops those
 * that are still in the queue with the socket, in the process that closes it, which then waits for
 * them: for the other side of a TCP socket with SO_LINGER, as long as the sender has chosen. So
 * such a socket is handed to a process that may wait; where there is none it stays open until this
 * process ends, as what ends does not linger.
 */

#define DISCARDS_KEPT 64 /* more open ones at a time are too many */

struct discard {
	/* Takes over @fd, and closes it. False: it cannot now, and has not; NULL: there is none.
	 */
	bool (*hand_over)(void *context, int fd);
	void *context;
	int *kept; /* owned; open descriptors */
	size_t nr, room;
};

/* Closes a socket over which no descriptors can be sent, whatever waits in it. */
void socket_close_plain(int fd);
/* Nothing is sent over the socket @fd any more; closes it, now or later, and never waits. */
void socket_discard(struct discard *d, int fd);
/* The same of a descriptor of any kind that others use, too: they notice nothing. */
void descriptor_discard(struct discard *d, int fd);
/* Tries again to hand over those that are kept. */
void discards_attend(struct discard *d);
/* True: no more should come. */
static inline bool discards_are_many(const struct discard *d)
{
	return d->nr >= DISCARDS_KEPT;
}
/* Leaves those open that are kept. */
void discards_done(struct discard *d);

/* A number of bytes through a descriptor, however many calls that takes. */

/*
 * Reads @bytes from @fd, or writes them; a signal does not end it. False: an error, or the other
 * end has closed before.
 */
bool bytes_pass(int fd, void *bytes, size_t left, bool is_read);
/* Reads @room bytes, fewer only at the end of the file. Their number, or a negative errno. */
ssize_t bytes_read(int fd, char *out, size_t room);

/* Makes inherited pipes and terminals non-blocking without changing them for other processes. */

/*
 * Replaces @fd, a pipe or a terminal that is open for writing, by a new file description with
 * O_NONBLOCK: the old one is shared with other processes, and the flag would apply to them, too.
 * 0: replaced; a negative errno: @fd is unchanged, because it is something else or may not be
 * opened again.
 */
int reopen_for_writing(int fd);

/* A process as a descriptor, which stays its own when its number is given to another. */

/* The process @pid as a descriptor, to be closed; a negative errno: -ESRCH. */
int pidfd_make(pid_t pid);
/*
 * The number of the process @fd in the PID namespace of /proc. -ESRCH: it has ended; -EBADMSG: @fd
 * is no process, or none of that namespace.
 */
pid_t pidfd_pid(int fd);

/*
 * The process that has made a connection over a Unix socket. Its PID alone does not say which that
 * is: it may have ended since, while others hold the connection, and another process may have got
 * its PID.
 */

struct peer_process {
	pid_t pid;
	uid_t uid;     /* effective, when it connected */
	bool is_there; /* the kernel has shown that it still has its PID; before 6.5 it does not */
	uint64_t came_boot_ns; /* CLOCK_BOOTTIME: it had connected by then */
};

/* Reads pid, uid and is_there of the other end of @fd. 0; -ESRCH: it has ended; or another negative
 * errno. */
int peer_process_read(int fd, struct peer_process *p);
/*
 * False: a process with its PID that began at @start_boot_ns and is of user @uid may be another
 * one, and the connection a stranger's. @owner: whose connections count in any case, as root's do.
 */
bool peer_process_may_be(const struct peer_process *p, uint64_t start_boot_ns, uid_t uid,
			 uid_t owner);

#endif
