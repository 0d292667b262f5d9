// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/span_socket.h"

#include "base/fd_passing.h"
#include "base/span_call.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CALLERS_QUEUED 1024 /* the kernel may allow fewer; others wait */

static int socket_bind(int fd, const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));

	memcpy(at.sun_path + 1, name, strlen(name)); /* it begins with a NUL: it is in no folder */
	return bind(fd, (struct sockaddr *)&at, bytes) ? -errno : 0;
}

static int name_publish(const char *name)
{
	char variable[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];

	snprintf(variable, sizeof(variable), "@%s", name);
	return setenv(SPAN_VARIABLE, variable, 1) ? -ENOMEM : 0;
}

/* A name that no other run has. */
static int name_choose(char *name, size_t size)
{
	uint64_t number;

	unsetenv(SPAN_VARIABLE); /* it may be of a run around this one */
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	snprintf(name, size, SPAN_SOCKET_FORMAT, number);
	return 0;
}

int span_socket_choose(char *name, size_t size)
{
	int err = name_choose(name, size);

	return err ? err : name_publish(name);
}

int span_socket_open(void)
{
	int fd, err;
	char name[64];

	err = name_choose(name, sizeof(name));
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	socket_refuse_rights(fd);
	err = socket_bind(fd, name);
	if (!err && listen(fd, CALLERS_QUEUED))
		err = -errno;
	if (!err)
		err = name_publish(name);
	if (!err)
		return fd;
	close(fd);
	return err;
}
