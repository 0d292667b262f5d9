// SPDX-License-Identifier: BSD-2-Clause
#include "base/agent_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

bool agent_socket_is_there(void)
{
	struct stat st;

	return !lstat(AGENT_SOCKET, &st) && S_ISSOCK(st.st_mode);
}

/* By the process that has bound the socket, not by the owner of its file. */
static bool listener_is_root(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && !peer.uid;
}

int agent_socket_connect(const char *path, char *why, size_t size)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, err;

	if (snprintf(at.sun_path, sizeof(at.sun_path), "%s", path) >= (int)sizeof(at.sun_path)) {
		snprintf(why, size, "the path of the agent's socket is too long: %s", path);
		return -ENAMETOOLONG;
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at))) {
		err = -errno;
		snprintf(why, size, "no agent answers at %s: %s; is bpfmon-agent running?", path,
			 strerror(-err));
	} else if (!listener_is_root(fd)) {
		err = -EPERM;
		snprintf(why, size, "the agent at %s is not root's: it gets nothing", path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return err;
}
