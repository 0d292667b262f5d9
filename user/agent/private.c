// SPDX-License-Identifier: BSD-2-Clause
#include "agent/private.h"

#include "agent/agent.h"
#include "base/log.h"
#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 5000 /* for the agent to accept a client */

/* This agent must not notify the service manager of its owner. */
static void private_agent_run(const struct private_options *o, int fd)
{
	struct agent_config config;
	char why[CONFIG_WHY_BYTES];

	setsid(); /* signals of the terminal are for the commands */
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	if (config_set_defaults(&config, why, sizeof(why)))
		_exit(1);
	config.interval_ns = o->interval_ns;
	config.net = o->net;
	config.io_kinds = o->io_kinds;
	_exit(agent_run(&(struct agent_options){ .given = &config,
						 .porter.fd = -1,
						 .clients_fd = fd,
						 .history_stream_fd = -1,
						 .history_control_fd = -1,
						 .verbose = o->verbose })
		      ? 1
		      : 0);
}

static int private_agent_wait(const struct private_agent *p)
{
	struct control c;
	int got;

	do
		got = control_receive(p->fd, &c);
	while (got == -EINTR);
	return got == 1 && c.type == CONTROL_READY ? 0 : -ECHILD;
}

int private_agent_start(struct private_agent *p, const struct private_options *o)
{
	int ends[2], err;

	*p = (struct private_agent){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		err = -errno;
		log_error("cannot start the process that measures the runs: %s", strerror(-err));
		return err;
	}
	p->pid = fork();
	if (!p->pid) {
		close(ends[0]);
		private_agent_run(o, ends[1]);
	}
	close(ends[1]);
	p->fd = ends[0];
	err = p->pid < 0 ? -EAGAIN : private_agent_wait(p);
	if (p->pid < 0)
		log_error("cannot start the process that measures the runs: %s", strerror(-err));
	if (err)
		private_agent_end(p);
	return err;
}

int private_agent_connect(const struct private_agent *p)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	err = fcntl(ends[1], F_SETFL, O_NONBLOCK) ? -errno : 0;
	if (!err)
		err = message_send(p->fd, CONTROL_CLIENT, "client", strlen("client"), &ends[1], 1,
				   PATIENCE_MS);
	close(ends[1]);
	if (!err)
		return ends[0];
	close(ends[0]);
	return err;
}

void private_agent_end(struct private_agent *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	while (p->pid > 0 && waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
}
