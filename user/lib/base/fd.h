/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * File descriptors: passed over Unix sockets, closed without waiting, read as a whole; pidfds and
 * peers.
 */
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

#define FDS_AT_ONCE 253 /* most that the kernel passes with one packet */

/* Aligned buffer for them; must be zeroed. */
union passed_fds {
	struct cmsghdr header;
	char room[CMSG_SPACE(FDS_AT_ONCE * sizeof(int))];
};

/* Makes @h send @nr descriptors (may be 0) in @room, which must outlive the call of sendmsg(). */
void fds_put(struct msghdr *h, union passed_fds *room, const int *fds, size_t nr);
/* Reads the descriptors that came with @h and returns their number. The caller owns them. */
size_t fds_read(struct msghdr *h, int fds[FDS_AT_ONCE]);

/*
 * Makes the kernel refuse packets with descriptors to @fd, and to connections accepted from it, at
 * the sender (EPERM). Returns false before Linux 6.16.
 */
static inline bool socket_refuse_rights(int fd)
{
	static const int off = 0;

	return !setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
}

static inline bool socket_refuses_rights(int fd)
{
	socklen_t size = sizeof(int);
	int is_on = 1;

	return !getsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &is_on, &size) && !is_on;
}

/*
 * Closing of sockets on which untrusted processes may have sent descriptors. The kernel closes
 * queued descriptors in the process that closes the socket, and that may block for as long as the
 * sender chose: a TCP socket with SO_LINGER waits for its other side. So such a socket is handed
 * over to a process that may wait. Without one it stays open until this process ends, as closing at
 * exit does not linger.
 */

#define DISCARDS_KEPT 64 /* sockets kept open before discards_are_many() */

struct discard {
	/*
	 * Takes over @fd and closes it. Returns false if it cannot now. NULL if there is no such
	 * process.
	 */
	bool (*hand_over)(void *context, int fd);
	void *context;
	int *kept; /* owned; open descriptors */
	size_t nr, room;
};

/* Closes a socket over which no descriptors can be sent, and drops what is queued. */
void socket_close_plain(int fd);
/* Shuts down the socket @fd and closes it, now or later, without ever waiting. */
void socket_discard(struct discard *d, int fd);
/* Closes a descriptor of any kind in the same way, without effect on others that share it. */
void descriptor_discard(struct discard *d, int fd);
/* Tries again to hand over the kept descriptors. */
void discards_retry(struct discard *d);
/* Returns true if no more should be accepted. */
static inline bool discards_are_many(const struct discard *d)
{
	return d->nr >= DISCARDS_KEPT;
}
/* Frees the list; the kept descriptors stay open. */
void discards_done(struct discard *d);

/*
 * Reads or writes all @left bytes, in spite of signals. Returns false on an error or if the other
 * end has closed.
 */
bool bytes_transfer(int fd, void *bytes, size_t left, bool is_read);
/*
 * Reads @room bytes, fewer only at the end of the file. Returns their number, or a negative errno.
 */
ssize_t bytes_read(int fd, char *out, size_t room);

/*
 * Replaces @fd, a pipe or terminal that is open for writing, by a new file description with
 * O_NONBLOCK: the inherited one is shared with other processes, which the flag would affect.
 * Returns 0, or a negative errno if @fd is something else or may not be opened again, and is
 * unchanged.
 */
int reopen_for_writing(int fd);

/*
 * Opens the process @pid as a pidfd, which keeps referring to it after its PID is reused. The
 * caller closes it. Returns a negative errno on failure, as -ESRCH.
 */
int pidfd_make(pid_t pid);
/*
 * Returns the PID of the pidfd @fd in the PID namespace of /proc, -ESRCH if the process has ended,
 * or -EBADMSG if @fd is no pidfd or the process is not in that namespace.
 */
pid_t pidfd_pid(int fd);

/*
 * The process that made a connection over a Unix socket. Its PID alone does not identify it: it may
 * have ended while others hold the connection, and its PID may have been reused.
 */

struct peer_process {
	pid_t pid;
	uid_t uid;             /* effective, at the time of connect() */
	bool is_there;         /* the kernel confirmed that it still has its PID (since 6.5) */
	uint64_t came_boot_ns; /* CLOCK_BOOTTIME; it had connected by then */
};

/*
 * Reads @p, except came_boot_ns, from the other end of @fd. Returns 0, -ESRCH if the process has
 * ended, or another negative errno.
 */
int peer_process_read(int fd, struct peer_process *p);
/*
 * Returns false if a process with its PID, which began at @start_boot_ns and is of user @uid, may
 * be a different one. Connections of @owner and of root count in any case.
 */
bool peer_process_matches(const struct peer_process *p, uint64_t start_boot_ns, uid_t uid,
			  uid_t owner);

#endif
