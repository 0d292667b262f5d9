// SPDX-License-Identifier: BSD-2-Clause
#include "base/fd.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

void fds_put(struct msghdr *h, union passed_fds *room, const int *fds, size_t nr)
{
	if (!nr)
		return;
	h->msg_control = room->room;
	h->msg_controllen = CMSG_SPACE(nr * sizeof(int));
	room->header.cmsg_level = SOL_SOCKET;
	room->header.cmsg_type = SCM_RIGHTS;
	room->header.cmsg_len = CMSG_LEN(nr * sizeof(int));
	memcpy(CMSG_DATA(&room->header), fds, nr * sizeof(int));
}

size_t fds_read(struct msghdr *h, int fds[FDS_AT_ONCE])
{
	size_t nr = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		    n > FDS_AT_ONCE - nr)
			continue;
		memcpy(fds + nr, CMSG_DATA(c), n * sizeof(int));
		nr += n;
	}
	return nr;
}

/*
 * Returns the number of descriptors in the queue of a socket that is shut down for reading, so that
 * no more arrive.
 */
static unsigned queued_fds_count(int fd)
{
	__cleanup(fclosep) FILE *f = NULL;
	char path[64], line[128];
	unsigned nr;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = memory_fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "scm_fds: %u", &nr) == 1)
			return nr;
	return !f; /* unknown; or not a Unix socket */
}

void socket_close_plain(int fd)
{
	char ignored[4096];

	shutdown(fd, SHUT_RDWR);
	/* otherwise the other end might miss what was sent last */
	while (recv(fd, ignored, sizeof(ignored), MSG_DONTWAIT) > 0)
		;
	close(fd);
}

/* Keeps @fd open; if out of memory, without remembering it. */
static void discard_keep(struct discard *d, int fd)
{
	size_t room = d->room ? d->room * 2 : DISCARDS_KEPT;
	int *kept = d->nr < d->room ? d->kept : memory_reallocarray(d->kept, room, sizeof(*kept));

	if (!kept)
		return;
	if (d->nr == d->room)
		d->room = room;
	d->kept = kept;
	d->kept[d->nr++] = fd;
}

void socket_discard(struct discard *d, int fd)
{
	shutdown(fd, SHUT_RDWR);
	if (!queued_fds_count(fd)) {
		socket_close_plain(fd);
	} else if (!d->hand_over || !d->hand_over(d->context, fd)) {
		discard_keep(d, fd);
	}
}

void descriptor_discard(struct discard *d, int fd)
{
	if (!d->hand_over)
		close(fd); /* all senders are trusted */
	else if (!d->hand_over(d->context, fd))
		discard_keep(d, fd);
}

void discards_retry(struct discard *d)
{
	while (d->nr && d->hand_over && d->hand_over(d->context, d->kept[d->nr - 1]))
		d->nr--;
}

void discards_done(struct discard *d)
{
	free(d->kept);
	d->kept = NULL;
	d->nr = d->room = 0;
}

bool bytes_transfer(int fd, void *bytes, size_t left, bool is_read)
{
	char *at = bytes;

	while (left) {
		ssize_t n = is_read ? read(fd, at, left) : write(fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		left -= (size_t)n;
	}
	return true;
}

ssize_t bytes_read(int fd, char *out, size_t room)
{
	size_t used = 0;
	ssize_t n;

	while (used < room) {
		n = read(fd, out + used, room - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

#define PTY_MASTER_MAJOR 2 /* BSD pseudo-terminal masters */
#define TTYAUX_MAJOR 5
#define PTMX_MINOR 2 /* opening it makes a new terminal */

static bool reopen_is_possible(int fd, const struct stat *st)
{
	dev_t d = st->st_rdev;

	if (S_ISFIFO(st->st_mode))
		return true;
	if (!S_ISCHR(st->st_mode) || !isatty(fd))
		return false;
	return major(d) != PTY_MASTER_MAJOR &&
	       !(major(d) == TTYAUX_MAJOR && minor(d) == PTMX_MINOR);
}

static bool reopen_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int reopen_for_writing(int fd)
{
	int flags = fcntl(fd, F_GETFL), fresh, err = 0;
	struct stat st, now;
	char path[64];

	if (flags < 0 || fstat(fd, &st))
		return -errno;
	if ((flags & O_ACCMODE) == O_RDONLY || !reopen_is_possible(fd, &st))
		return -ENOTTY;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fresh = open(path, (flags & (O_ACCMODE | O_APPEND)) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fresh < 0)
		return -errno;
	if (fstat(fresh, &now) || !reopen_is_same_file(&st, &now))
		err = -ENOENT;
	else if (dup3(fresh, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
		err = -errno;
	close(fresh);
	return err;
}

int pidfd_make(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd; /* has O_CLOEXEC */
}

pid_t pidfd_pid(int fd)
{
	char path[64], line[128];
	__cleanup(fclosep) FILE *f = NULL;
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = memory_fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Pid: %d", &pid) == 1)
			return pid > 0 ? pid : pid < 0 ? -ESRCH : -EBADMSG;
	return -EBADMSG;
}

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/* Returns true if the process still has its PID, also as a zombie that was not reaped. */
static bool process_has_pid(int pid_fd)
{
	struct pollfd p = { .fd = pid_fd, .events = POLLIN };

	return !poll(&p, 1, 0) || pidfd_pid(pid_fd) > 0;
}

int peer_process_read(int fd, struct peer_process *p)
{
	__cleanup(closep) int pid_fd = -1;
	struct ucred peer;
	socklen_t size = sizeof(peer);

	p->is_there = false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return -errno;
	p->pid = peer.pid;
	p->uid = peer.uid;
	size = sizeof(pid_fd);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pid_fd, &size)) {
		pid_fd = -1;
		return errno == ENOPROTOOPT ? 0 : -ESRCH;
	}
	p->is_there = process_has_pid(pid_fd);
	return p->is_there ? 0 : -ESRCH;
}

bool peer_process_matches(const struct peer_process *p, uint64_t start_boot_ns, uid_t uid,
			  uid_t owner)
{
	if (p->is_there)
		return true;
	return start_boot_ns <= p->came_boot_ns && (p->uid == uid || p->uid == owner || !p->uid);
}
