// SPDX-License-Identifier: BSD-2-Clause
#include "http/tcp_acked.h"

#include <linux/tcp.h> /* struct tcp_info of glibc ends before the member; the headers conflict */
#include <netinet/in.h>
#include <sys/socket.h>

uint64_t tcp_acked_bytes(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t length = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) ? 0 : info.tcpi_bytes_acked;
}
