// SPDX-License-Identifier: BSD-2-Clause
#include "http/listen.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int http_listen(const struct config_address *a, int waiting)
{
	const struct sockaddr *address = (const struct sockaddr *)&a->address;
	int on = 1, err;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!bind(fd, address, a->bytes) && !listen(fd, waiting))
		return fd;
	err = -errno;
	close(fd);
	return err;
}
