/* SPDX-License-Identifier: BSD-2-Clause */
/* Collector and recorder as the launcher sees them: two children with a socket each. */
#ifndef LAUNCH_ROLES_H
#define LAUNCH_ROLES_H

#include "launch/launcher.h"
#include "launch/spawn.h"

struct role {
	const char *name;
	pid_t pid; /* 0: has ended */
	int control_fd;
};

struct roles {
	struct role collector, recorder;
};

/*
 * Forks both, which then do as @o says and end. They give back @signal_fd and the pipes of
 * @command, which are the launcher's. A negative errno: role_reap() ends those that there are.
 */
int roles_fork(struct roles *roles, struct launch_options *o, const struct spawn *command,
	       int signal_fd, const sigset_t *mask);
/* Waits for the word that it may begin; else, after one line to the user, a negative errno. */
int role_wait_until_ready(const struct role *role);
/* Lets go of the role, and waits for its end. */
void role_reap(struct role *role);
/* The role has been waited for. */
void role_ended(struct role *role, int status);

#endif
