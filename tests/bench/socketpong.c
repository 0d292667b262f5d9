// SPDX-License-Identifier: BSD-2-Clause
/*
 * N rounds over a socket: BYTES to a child, and a byte back; or, as a stream, N times BYTES to it,
 * and one byte back at the end. What hooks of sockets cost weighs most where a call moves least.
 * Usage: socketpong tcp|udp|unix BYTES N [stream]
 */
#include "bench.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>

#define HELP "socketpong tcp|udp|unix BYTES N [stream]"

static char block[1 << 20];

static void get(int fd, size_t bytes)
{
	while (bytes) {
		ssize_t n = recv(fd, block, bytes, 0);

		if (n <= 0)
			die("recv");
		bytes -= (size_t)n;
	}
}

static void put(int fd, size_t bytes)
{
	while (bytes) {
		ssize_t n = send(fd, block, bytes, MSG_NOSIGNAL);

		if (n <= 0)
			die("send");
		bytes -= (size_t)n;
	}
}

static void tcp_open(int fds[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);
	int listening = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listening, (struct sockaddr *)&at, n) || listen(listening, 1) ||
	    getsockname(listening, (struct sockaddr *)&at, &n) ||
	    connect(fds[0], (struct sockaddr *)&at, n))
		die("connect");
	fds[1] = accept(listening, NULL, NULL);
	for (int i = 0; i < 2; i++)
		if (setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
			die("TCP_NODELAY");
}

static void udp_open(int fds[2])
{
	struct sockaddr_in at[2];
	socklen_t n = sizeof(*at);

	for (int i = 0; i < 2; i++) {
		at[i] = (struct sockaddr_in){ .sin_family = AF_INET,
					      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		fds[i] = socket(AF_INET, SOCK_DGRAM, 0);
		if (bind(fds[i], (struct sockaddr *)&at[i], n) ||
		    getsockname(fds[i], (struct sockaddr *)&at[i], &n))
			die("bind");
	}
	for (int i = 0; i < 2; i++)
		if (connect(fds[i], (struct sockaddr *)&at[!i], n))
			die("connect");
}

int main(int argc, char **argv)
{
	bool is_stream = argc == 5 && !strcmp(argv[4], "stream");
	size_t bytes;
	double start;
	int fds[2];
	pid_t pid;
	long n;

	if (argc != 4 && !is_stream)
		usage(HELP);
	bytes = (size_t)number(argv[2], HELP);
	n = number(argv[3], HELP);
	if (bytes > sizeof(block))
		usage(HELP);
	if (!strcmp(argv[1], "tcp"))
		tcp_open(fds);
	else if (!strcmp(argv[1], "udp"))
		udp_open(fds);
	else if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		die("socketpair");
	pid = xfork();
	if (!pid) {
		for (long i = 0; i <= n; i++) {
			get(fds[1], bytes);
			if (!is_stream || !i || i == n)
				put(fds[1], 1);
		}
		_exit(0);
	}
	/* One round before the clock starts: the child is there. */
	put(fds[0], bytes);
	get(fds[0], 1);
	start = now();
	for (long i = 0; i < n; i++) {
		put(fds[0], bytes);
		if (!is_stream)
			get(fds[0], 1);
	}
	if (is_stream)
		get(fds[0], 1);
	start = now() - start;
	if (reap(pid)) {
		errno = ECHILD;
		die("the child");
	}
	report(start);
	return 0;
}
