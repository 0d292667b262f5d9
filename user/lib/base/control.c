// SPDX-License-Identifier: BSD-2-Clause
#include "base/control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

int control_send(int fd, enum control_type type, int value, uint64_t when_ns, const char *text)
{
	struct control m = { .type = type, .value = value, .when_ns = when_ns };

	snprintf(m.text, sizeof(m.text), "%s", text ? text : "");
	return send(fd, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

bool control_has_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && p.revents & POLLOUT;
}

int control_receive(int fd, struct control *message)
{
	ssize_t n;

	do
		n = recv(fd, message, sizeof(*message), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	if (n == 0)
		return 0;
	message->text[sizeof(message->text) - 1] = '\0';
	return n == sizeof(*message) ? 1 : -EBADMSG;
}
