// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/ready.h"

#include "base/agent_socket.h"
#include "base/control.h"
#include "base/log.h"
#include "base/reopen.h"
#include "bpfmon/roles/end_request.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define EXEC_MS 1000 /* that an execution may take before signals are looked at */

void streams_unblock(void)
{
	reopen_for_writing(STDOUT_FILENO);
	reopen_for_writing(STDERR_FILENO);
	log_limit_waits();
}

/* 0: it may begin. @value: what it says with that. */
static int role_is_ready(const struct role *role, int *value)
{
	struct control m;

	if (control_receive(role->control_fd, &m) != 1) {
		log_error("the %s ended before it was ready; nothing was run", role->name);
		return -ECHILD;
	}
	*value = m.value;
	if (m.type == CONTROL_READY)
		return 0;
	log_error("%s", m.text);
	return m.value ? m.value : -EIO;
}

/* A collector of this run's own may take its time to load the programs: it is seen when it ends. */
static int role_poll(struct pollfd p[3], bool has_agent)
{
	int n = has_agent ? agent_socket_poll(p, 3) : poll(p, 3, -1);

	for (int i = 0; n < 0 && i < 3; i++)
		p[i].revents = 0;
	if (n)
		return 0;
	log_error("%s; nothing was run", AGENT_HANGS);
	return -ETIMEDOUT;
}

int roles_wait_until_ready(struct roles *roles, pid_t command, int signal_fd, int *sig)
{
	const struct role *const of[] = { &roles->recorder, &roles->collector };
	int value = 0;
	struct pollfd p[] = {
		{ .fd = roles->recorder.control_fd, .events = POLLIN },
		{ .fd = roles->collector.control_fd, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
	};
	int err = 0;

	*sig = 0;
	while (!err && (p[0].fd >= 0 || p[1].fd >= 0)) {
		err = role_poll(p, roles->collector.is_remote && p[1].fd >= 0);
		for (int i = 0; !err && i < 2; i++) {
			if (!p[i].revents)
				continue;
			err = role_is_ready(of[i], &value);
			/* an agent's value is the version of requests that it takes */
			roles->wants_reaped |= !err && value && !roles->collector.is_remote;
			p[i].fd = -1; /* and its revents will be 0 */
		}
		if (!err && p[2].revents && (*sig = end_request_read(signal_fd)))
			err = -EINTR;
	}
	/* orphans of the command become children of this process, which waits for them */
	if (!err && roles->wants_reaped && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		err = -errno;
	if (!err && roles->wants_reaped)
		err = own_children_read(&roles->own, getpid(), command);
	return err;
}

void command_wait_for_exec(const struct spawn *command, int signal_fd)
{
	struct pollfd p[] = {
		{ .fd = command->status_fd, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
	};
	int sig, nr = 0;

	if (!command->has_gone ||
	    poll(p, 1, EXEC_MS) > 0) /* what comes meanwhile is for the command, later */
		return;
	for (;;) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents)
			return;
		sig = end_request_read(signal_fd);
		if (sig)
			kill(command->pid, nr++ ? SIGKILL : sig);
	}
}
