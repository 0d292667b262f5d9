// SPDX-License-Identifier: BSD-2-Clause
/*
 * Moves BYTES through a socket, from this process to a child, or from a second child if the sending
 * end is "passed" to it. KIND: tcp, tcp6, udp, unix, dgram (a Unix one), seqpacket. The witness
 * has, for each side, its PID, and the bytes and calls by what the calls returned. Ends with 77
 * where io_uring is refused or lacks the operation. Usage: sockets KIND SEND RECEIVE BYTES BLOCK
 * [passed]
 */
#include "sockets.h"
#include <arpa/inet.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>

struct sides *said;
char *block;
size_t block_bytes;
int file = -1, tube[2];

ssize_t checked(ssize_t n, const char *what)
{
	if (n < 0)
		truth_fail("%s", what);
	return n;
}

static int tcp_connect(int family, int *accepted)
{
	struct sockaddr_storage at = { .ss_family = family };
	socklen_t n = sizeof(at);
	int listening = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;

	if (family == AF_INET)
		((struct sockaddr_in *)&at)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&at)->sin6_addr = in6addr_loopback;
	if (bind(listening, (struct sockaddr *)&at, n) || listen(listening, 1) ||
	    getsockname(listening, (struct sockaddr *)&at, &n))
		truth_fail("listen");
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&at, n))
		truth_fail("connect");
	*accepted = (int)checked(accept(listening, NULL, NULL), "accept");
	close(listening);
	return fd;
}

static int udp_connect(int *other)
{
	struct sockaddr_in at[2];
	socklen_t n = sizeof(*at);
	int fds[2];

	for (int i = 0; i < 2; i++) {
		at[i] = (struct sockaddr_in){ .sin_family = AF_INET,
					      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		fds[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (bind(fds[i], (struct sockaddr *)&at[i], n) ||
		    getsockname(fds[i], (struct sockaddr *)&at[i], &n))
			truth_fail("bind");
	}
	if (connect(fds[0], (struct sockaddr *)&at[1], n) ||
	    connect(fds[1], (struct sockaddr *)&at[0], n))
		truth_fail("connect");
	*other = fds[1];
	return fds[0];
}

static void pair_make(const char *kind, int fds[2])
{
	static const struct {
		const char *name;
		int type;
	} unix_kinds[] = {
		{ "unix", SOCK_STREAM },
		{ "dgram", SOCK_DGRAM },
		{ "seqpacket", SOCK_SEQPACKET },
	};

	for (size_t i = 0; i < sizeof(unix_kinds) / sizeof(*unix_kinds); i++)
		if (!strcmp(kind, unix_kinds[i].name)) {
			checked(socketpair(AF_UNIX, unix_kinds[i].type | SOCK_CLOEXEC, 0, fds),
				"socketpair");
			return;
		}
	if (!strcmp(kind, "udp"))
		fds[0] = udp_connect(&fds[1]);
	else
		fds[0] = tcp_connect(strcmp(kind, "tcp6") ? AF_INET : AF_INET6, &fds[1]);
}

/* Datagrams may be dropped: the next one is sent when all so far have arrived. */
static void send_all(int fd, const char *way, long bytes, bool waits)
{
	struct side *s = &said->sender;
	int one = 1;

	s->pid = getpid();
	checked(pipe2(tube, O_CLOEXEC), "pipe2");
	if (!strcmp(way, "zerocopy") && setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		truth_fail("SO_ZEROCOPY");
	while (s->bytes < bytes) {
		size_t n = (size_t)(bytes - s->bytes) < block_bytes ? (size_t)(bytes - s->bytes)
								    : block_bytes;

		s->bytes += checked(send_once(fd, way, n), way);
		s->calls++;
		while (waits && __atomic_load_n(&said->receiver.bytes, __ATOMIC_ACQUIRE) < s->bytes)
			sched_yield();
	}
}

static void receive_all(int fd, const char *way, long bytes)
{
	struct side *s = &said->receiver;

	s->pid = getpid();
	checked(pipe2(tube, O_CLOEXEC), "pipe2");
	while (s->bytes < bytes) {
		ssize_t n = checked(receive_once(fd, way, block_bytes), way);

		if (!n)
			truth_fail("the stream has ended");
		s->calls++;
		__atomic_store_n(&s->bytes, s->bytes + n, __ATOMIC_RELEASE);
	}
}

static void fd_pass(int over, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	checked(sendmsg(over, &m, 0), "sendmsg");
}

static int fd_take(int over)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	int fd;

	checked(recvmsg(over, &m, MSG_CMSG_CLOEXEC), "recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* If a child lacks something, which it has printed, so does the whole program. */
static void child_end(pid_t pid)
{
	struct rusage ru;
	int status = child_reap_usage(pid, &ru);

	if (WIFEXITED(status) && WEXITSTATUS(status) == TRUTH_SKIP)
		exit(TRUTH_SKIP);
	errno = 0;
	if (status)
		truth_fail("a child ended with wait status 0x%x", status);
}

int main(int argc, char **argv)
{
	int fds[2], over[2];
	pid_t receiver, sender = 0;
	bool is_passed = argc == 7 && !strcmp(argv[6], "passed"), waits;
	long bytes;

	if (argc != 6 && !is_passed)
		truth_usage("sockets KIND SEND RECEIVE BYTES BLOCK [passed]");
	bytes = (long)truth_number(argv[4]);
	block_bytes = (size_t)truth_number(argv[5]);
	said = memory_map_shared(sizeof(*said));
	block = memory_map_small(block_bytes);
	file = memfd_create("sockets", MFD_CLOEXEC);
	if (checked(write(file, block, block_bytes), "write") != (ssize_t)block_bytes)
		truth_fail("write of the file");
	waits = !strcmp(argv[1], "udp");
	if (is_passed) {
		checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, over), "socketpair");
		sender = child_fork();
		if (!sender) {
			send_all(fd_take(over[1]), argv[2], bytes, waits);
			exit(0);
		}
	}
	pair_make(argv[1], fds);
	receiver = child_fork();
	if (!receiver) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would wait for ever */
		close(fds[0]);
		receive_all(fds[1], argv[3], bytes);
		exit(0);
	}
	if (is_passed)
		fd_pass(over[0], fds[0]);
	else
		send_all(fds[0], argv[2], bytes, waits);
	if (sender)
		child_end(sender);
	child_end(receiver);
	truth_write(2 + is_passed, 0, 0,
		    ",\"sender\":{\"pid\":%d,\"bytes\":%ld,\"calls\":%ld},"
		    "\"receiver\":{\"pid\":%d,\"bytes\":%ld,\"calls\":%ld}",
		    said->sender.pid, said->sender.bytes, said->sender.calls, said->receiver.pid,
		    said->receiver.bytes, said->receiver.calls);
	return 0;
}
