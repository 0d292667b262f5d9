/* SPDX-License-Identifier: BSD-2-Clause */
/* The command's process: made early, executed only when it is followed. */
#ifndef ROLES_SPAWN_H
#define ROLES_SPAWN_H

#include "base/cgroup.h"
#include "base/user.h"

#include <signal.h>

struct spawn {
	const int *streams; /* what are its descriptors 0 to 2; NULL: those of its parent */
	pid_t pid;
	int go_fd;     /* writing a byte lets it exec; closing it ends the child */
	int status_fd; /* the result of the exec comes out of it */
	bool has_gone; /* the byte was taken */
	bool is_ready; /* what failed was the exec itself, nothing before */
};

/*
 * Forks the child. It enters the cgroup @in and becomes @as where those are not NULL, takes @mask
 * as its signal mask and @children as what it does on SIGCHLD, and s->streams, which are none of 0
 * to 2 themselves unless each is in its place. What is inherited beside that is the caller's own.
 */
int spawn_fork(struct spawn *s, char *const *argv, const sigset_t *mask,
	       const struct sigaction *children, const struct cgroup *in, const struct user *as);
/* Waits until the process has nothing more to do before its exec: what it uses from then on counts.
 * Where programs have to be loaded, that is long before they are. */
void spawn_wait_until_prepared(const struct spawn *s);
/* Lets the child exec. */
void spawn_go(struct spawn *s);
/*
 * Waits until it has. 0: the command runs, or was killed on the way; else a negative errno, and in
 * *@step what failed ("become user ...", "execute").
 */
int spawn_result(struct spawn *s, const char **step);
/* Ends a child that is not to exec. */
void spawn_cancel(struct spawn *s);
/* Waits for the end of a child that was cancelled, or could not exec. */
void spawn_wait(struct spawn *s);

#endif
