// SPDX-License-Identifier: BSD-2-Clause
#include "store/live_source.h"

#include "base/json.h"
#include "base/span_call.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 10000 /* with a collector that is stopped, or has a machine that is loaded */

static int wish_send(int fd, bool with_processes)
{
	struct jsonw j = { 0 };
	int err;

	jsonw_object(&j, NULL);
	jsonw_string(&j, "live", with_processes ? "processes" : "samples");
	jsonw_object_end(&j);
	err = j.failed ? -ENOMEM : 0;
	if (!err && send(fd, j.text, j.used, MSG_NOSIGNAL) < 0)
		err = -errno;
	jsonw_done(&j);
	return err;
}

/* What comes first is a line, or the reason why there will be none. */
static int answer_look(int fd, char *why, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char text[256];
	ssize_t n;

	if (poll(&p, 1, PATIENCE_MS) <= 0) {
		snprintf(why, size, "its collector does not answer");
		return -ETIMEDOUT;
	}
	n = recv(fd, text, sizeof(text) - 1, MSG_PEEK);
	if (n <= 0) {
		snprintf(why, size, "the run has ended");
		return -ECONNREFUSED;
	}
	if (*text == '{')
		return 0;
	text[n] = '\0';
	text_disarm(text);
	snprintf(why, size, "%s", text);
	return -EPERM;
}

static int live_begin(int fd, const char *socket, bool with_processes, char *why, size_t size)
{
	int err = span_connect(fd, socket);

	if (!err)
		err = wish_send(fd, with_processes);
	if (err) {
		snprintf(why, size,
			 err == -ECONNREFUSED ? "it has ended, or is on another host" : "%s",
			 strerror(-err));
		return err;
	}
	err = answer_look(fd, why, size);
	if (!err && fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		err = -errno;
	return err;
}

int live_open(const char *socket_name, bool with_processes, char *why, size_t size)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0) {
		snprintf(why, size, "%s", strerror(errno));
		return -errno;
	}
	err = live_begin(fd, socket_name, with_processes, why, size);
	if (!err)
		return fd;
	close(fd);
	return err;
}
