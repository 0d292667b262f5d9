// SPDX-License-Identifier: BSD-2-Clause
#include "base/agent_socket.h"

#include "base/fd.h"
#include "base/message.h"
#include "base/user.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define STEP_MS 100

bool agent_socket_is_there(void)
{
	struct stat st;

	return !lstat(AGENT_SOCKET, &st) && S_ISSOCK(st.st_mode);
}

/* Checks the process that bound the socket, not the owner of its file. */
static bool listener_is_root(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && !peer.uid;
}

static int agent_socket_connect_self(const char *path, char *why, size_t size)
{
	static const struct timeval patience = { .tv_sec = AGENT_PATIENCE_SECONDS };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, err = 0;

	if (snprintf(at.sun_path, sizeof(at.sun_path), "%s", path) >= (int)sizeof(at.sun_path)) {
		snprintf(why, size, "path of the agent's socket is too long: %s", path);
		return -ENAMETOOLONG;
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0) /* limit for connect(), which waits while the backlog is full */
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		err = errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (err == -ETIMEDOUT) {
		snprintf(why, size, AGENT_HANGS);
	} else if (err) {
		snprintf(why, size,
			 "cannot connect to the agent at %s: %s; is bpfmon-agent running?", path,
			 strerror(-err));
	} else if (!listener_is_root(fd)) {
		err = -EPERM;
		snprintf(why, size, "refusing to use the agent at %s, which does not run as root",
			 path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* To the child that connects as root; -1: this process connects itself. */
static int of_root = -1;

struct root_answer {
	int err;
	char why[512];
};

static void root_connect_once(int to, const char *path)
{
	struct root_answer answer = { 0 };
	union passed_fds room = { 0 };
	struct iovec text = { &answer, sizeof(answer) };
	struct msghdr h = { .msg_iov = &text, .msg_iovlen = 1 };
	int fd = agent_socket_connect_self(path, answer.why, sizeof(answer.why));

	answer.err = fd < 0 ? fd : 0;
	fds_put(&h, &room, &fd, fd >= 0);
	sendmsg(to, &h, MSG_NOSIGNAL);
	if (fd >= 0)
		close(fd);
}

int agent_socket_stay_root(const char *path)
{
	int ends[2];
	pid_t child;
	char byte;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	child = fork();
	if (!child) {
		close(ends[0]);
		/* the socket may be of a group that root is not in */
		if (privilege_keep(1ULL << CAP_DAC_OVERRIDE))
			_exit(1);
		while (recv(ends[1], &byte, 1, 0) == 1)
			root_connect_once(ends[1], path);
		_exit(0);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	of_root = ends[0];
	return 0;
}

int agent_socket_of_root(void)
{
	if (of_root >= 0)
		fcntl(of_root, F_SETFD, 0);
	return of_root;
}

void agent_socket_use_root(int fd)
{
	privilege_protect();
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	of_root = fd;
}

static int root_connect(char *why, size_t size)
{
	struct root_answer answer = { 0 };
	union passed_fds room = { 0 };
	struct iovec text = { &answer, sizeof(answer) };
	struct msghdr h = { .msg_iov = &text,
			    .msg_iovlen = 1,
			    .msg_control = &room,
			    .msg_controllen = sizeof(room) };
	int fds[FDS_AT_ONCE];

	if (send(of_root, "", 1, MSG_NOSIGNAL) != 1 ||
	    recvmsg(of_root, &h, MSG_CMSG_CLOEXEC) != sizeof(answer)) {
		snprintf(why, size, "cannot connect to the agent as root: its process has ended");
		return -ECONNRESET;
	}
	if (fds_read(&h, fds) == 1)
		return fds[0];
	snprintf(why, size, "%s", answer.why);
	return answer.err < 0 ? answer.err : -EBADMSG;
}

int agent_socket_connect(const char *path, char *why, size_t size)
{
	return of_root < 0 ? agent_socket_connect_self(path, why, size) : root_connect(why, size);
}

int agent_socket_poll(struct pollfd *p, nfds_t nr)
{
	int n = 0;

	for (int ms = 0; !n && ms < AGENT_PATIENCE_SECONDS * 1000; ms += STEP_MS)
		n = poll(p, nr, STEP_MS);
	return n;
}

/*
 * Takes the answer to a ping, but leaves a refusal in the queue as the answer to the next request.
 * Returns false if the agent is too old to know a ping.
 */
static bool ping_take_answer(int fd)
{
	struct control answer;
	ssize_t n = recv(fd, &answer, sizeof(answer), MSG_PEEK);

	if (n != sizeof(answer))
		return true;
	if (answer.type == CONTROL_READY)
		control_receive(fd, &answer);
	return answer.type != CONTROL_FAILED || answer.value != -EPROTO;
}

int agent_socket_connect_alive(const char *path, char *why, size_t size)
{
	int fd = agent_socket_connect(path, why, size), n;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return fd;
	control_send(fd, CONTROL_PING, 0, 0, NULL);
	do
		n = agent_socket_poll(&p, 1);
	while (n < 0 && errno == EINTR);
	if (n > 0 && ping_take_answer(fd))
		return fd;
	close(fd);
	if (n > 0)
		return agent_socket_connect(path, why, size);
	snprintf(why, size, AGENT_HANGS);
	return -ETIMEDOUT;
}
