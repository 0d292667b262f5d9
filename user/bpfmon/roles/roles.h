/* SPDX-License-Identifier: BSD-2-Clause */
/* Collector and recorder as the launcher sees them: two children with a socket each. */
#ifndef ROLES_ROLES_H
#define ROLES_ROLES_H

#include "base/control.h"
#include "base/own_children.h"
#include "bpfmon/roles/last_summary.h"
#include "bpfmon/roles/launcher.h"
#include "bpfmon/roles/spawn.h"
#include "bpfmon/roles/status_line.h"

struct role {
	const char *name;
	pid_t pid;      /* not above 0: has ended, or there is none */
	bool is_remote; /* it is the agent, no child */
	int control_fd;
};

struct roles {
	bool wants_reaped;       /* the collector: it has no BPF */
	struct own_children own; /* where it is wanted */
	struct role collector, recorder;
	int stream_fd; /* of the two, the collector's end, until it is sent; -1 */
	struct last_summary summary;
	struct status_line line;
	struct {
		uint64_t nr_heard, looked_ns, quiet_ns;
		bool is_asked; /* whether it is there, and has not answered yet */
		bool hangs;
	} agent; /* where it is the collector */
};

#define AGENT_LOOK_MS 100 /* between calls of roles_watch_agent() */

/*
 * Forks both, but for a collector that the agent is in place of, which run as @o has it and then
 * exit; the collector waits for its request. They close
 * @signal_fd and the pipes of
 * @command, which are the launcher's. A negative errno: roles_stop() ends those that there are.
 */
int roles_fork(struct roles *roles, struct launch_options *o, const struct spawn *command,
	       int signal_fd, const sigset_t *mask);
/* Sends it a message. If that fails, warns and ends the role, which would wait for ever. */
void role_send(const struct role *role, enum control_type type, int value, uint64_t when_ns);
/* The same with a text. */
void role_send_text(const struct role *role, enum control_type type, int value, uint64_t when_ns,
		    const char *text);
/* Asks an agent that is the collector, and silent, whether it is there. If it does not answer, says
 * so, and sets agent.hangs: then the recorder will not get to the end of its stream. */
void roles_watch_agent(struct roles *roles);
/* Records that the child @pid has been waited for, if it is a role; warns if it was killed. */
void roles_note_end(struct roles *roles, pid_t pid, int status);

#endif
