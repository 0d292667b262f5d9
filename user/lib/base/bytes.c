// SPDX-License-Identifier: BSD-2-Clause
#include "base/bytes.h"

#include <errno.h>
#include <unistd.h>

bool bytes_pass(int fd, void *bytes, size_t left, bool is_read)
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
