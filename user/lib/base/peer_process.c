// SPDX-License-Identifier: BSD-2-Clause
#include "base/peer_process.h"

#include "base/cleanup.h"
#include "base/pidfd.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/* One that nothing has waited for still has its PID. */
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

bool peer_process_may_be(const struct peer_process *p, uint64_t start_boot_ns, uid_t uid,
			 uid_t owner)
{
	if (p->is_there)
		return true;
	return start_boot_ns <= p->came_boot_ns && (p->uid == uid || p->uid == owner || !p->uid);
}
