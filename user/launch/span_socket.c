// SPDX-License-Identifier: BSD-2-Clause
#include "launch/span_socket.h"

#include "base/span_call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CALLERS_QUEUED 1024 /* the kernel may allow fewer; others wait */

/* Binds it to a name that no other run has. */
static int socket_bind(int fd, struct sockaddr_un *at)
{
	uint64_t number;
	int n;

	at->sun_family = AF_UNIX;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	n = snprintf(at->sun_path + 1, sizeof(at->sun_path) - 1, "bpfmon-span-%016" PRIx64, number);
	return bind(fd, (struct sockaddr *)at,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n))
		       ? -errno
		       : 0;
}

static int socket_name(const struct sockaddr_un *at)
{
	char name[sizeof(at->sun_path) + 1];

	snprintf(name, sizeof(name), "@%s", at->sun_path + 1);
	return setenv(SPAN_VARIABLE, name, 1) ? -ENOMEM : 0;
}

int span_socket_open(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;
	struct sockaddr_un at = { 0 };

	unsetenv(SPAN_VARIABLE); /* it may be of a run around this one */
	if (fd < 0)
		return -errno;
	err = socket_bind(fd, &at);
	if (!err && listen(fd, CALLERS_QUEUED))
		err = -errno;
	if (!err)
		err = socket_name(&at);
	if (!err)
		return fd;
	close(fd);
	return err;
}
