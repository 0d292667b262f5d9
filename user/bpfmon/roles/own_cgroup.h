/* SPDX-License-Identifier: BSD-2-Clause */
/* The command's own cgroup: made before its process, removed after the roles have ended. */
#ifndef ROLES_OWN_CGROUP_H
#define ROLES_OWN_CGROUP_H

#include "base/cgroup.h"

#include <sys/types.h>

/*
 * The folder of a root cgroup is not writable, not even for its owner. Its keeper alone has the
 * right to remove it: on request, or by itself when launcher and collector, which have @keeper_fd,
 * are gone.
 */
struct own_cgroup {
	struct cgroup cg;
	pid_t keeper;
	int keeper_fd;
};

/* A negative errno, after one line to the user; then it has no path. */
int own_cgroup_make(struct own_cgroup *own);
/* Has its keeper end all in it at once; with cgroups of version 1 nothing happens. */
void own_cgroup_kill(int keeper_fd);
/* Has it removed; a warning if it cannot be, with its path. */
void own_cgroup_remove(struct own_cgroup *own);

/* A keeper: a child that only waits for the end of the others, to remove what they leave. */

/* In the child: no signal that can be ignored ends it, nor does the end of its session. */
void keeper_detach(void);
/* Closes all descriptors but these two (-1: none) and those below @from. */
void keeper_close_others(int from, int one, int other);

#endif
