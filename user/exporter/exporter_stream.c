// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/exporter_stream.h"

#include "run/agent_call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_PREFIX "unix:"
#define AGENT_PREFIX "agent:"

static bool stream_is_agents(const struct exporter_options *o)
{
	return !strncmp(o->stream, AGENT_PREFIX, strlen(AGENT_PREFIX));
}

bool stream_is_socket(const struct exporter_options *o)
{
	return !strncmp(o->stream, SOCKET_PREFIX, strlen(SOCKET_PREFIX)) || stream_is_agents(o);
}

/* The agent sends the lines of all jobs that this user may see. */
static int stream_subscribe(const char *path, char *why, size_t size)
{
	struct agent_call call;
	int err = agent_call_node(&call, path, false, why, size), fd;

	if (err)
		return err;
	fd = call.stream_fd;
	call.stream_fd = -1;
	agent_call_done(&call);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static int stream_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int stream_open(const struct exporter_options *o, char *why, size_t size)
{
	int fd;

	if (stream_is_agents(o))
		return stream_subscribe(o->stream + strlen(AGENT_PREFIX), why, size);
	if (stream_is_socket(o))
		fd = stream_connect(o->stream + strlen(SOCKET_PREFIX));
	else if (!strcmp(o->stream, "-"))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(o->stream, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd == -1 && !stream_is_socket(o))
		fd = -errno;
	if (fd < 0)
		snprintf(why, size, "cannot open the stream %s: %s", o->stream, strerror(-fd));
	return fd;
}
