/* SPDX-License-Identifier: BSD-2-Clause */
/* Collector and recorder as the launcher sees them: two children with a socket each. */
#ifndef LAUNCH_ROLES_H
#define LAUNCH_ROLES_H

#include "base/control.h"
#include "launch/last_summary.h"
#include "launch/launcher.h"
#include "launch/spawn.h"

struct role {
	const char *name;
	pid_t pid; /* not above 0: has ended, or there is none */
	int control_fd;
};

struct roles {
	struct role collector, recorder;
	int stream_fd; /* of the two, the collector's end, until it is sent; -1 */
	struct last_summary summary;
};

/*
 * Forks both, which then do as @o says and end; the collector waits for its request. They give back
 * @signal_fd and the pipes of
 * @command, which are the launcher's. A negative errno: roles_stop() ends those that there are.
 */
int roles_fork(struct roles *roles, struct launch_options *o, const struct spawn *command,
	       int signal_fd, const sigset_t *mask);
/* Sends it a message. If that cannot be, says so, and ends the role: it would wait for ever. */
void role_send(const struct role *role, enum control_type type, int value, uint64_t when_ns);
/* The child @pid has been waited for: notes it where it is a role; of one that was killed says so.
 */
void roles_note_end(struct roles *roles, pid_t pid, int status);

#endif
