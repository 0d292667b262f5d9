/* SPDX-License-Identifier: BSD-2-Clause */
/* The command's own cgroup: made before its process, removed after the roles have ended. */
#ifndef ROLES_OWN_CGROUP_H
#define ROLES_OWN_CGROUP_H

#include "base/cgroup.h"

#include <sys/types.h>

/*
 * The folder of a root cgroup is not writable, not even for its owner. Only its keeper has the
 * right to remove it: on request, or when launcher and collector, which hold @keeper_fd, are gone.
 */
struct own_cgroup {
	struct cgroup cg;
	pid_t keeper;
	int keeper_fd;
};

/*
 * Makes the cgroup and starts its keeper. Returns 0, or a negative errno after a message to the
 * user; cg.path is empty then.
 */
int own_cgroup_make(struct own_cgroup *own);
/*
 * Requests the keeper to kill all processes of the cgroup at once. Does nothing for cgroups of
 * version 1.
 */
void own_cgroup_kill(int keeper_fd);
/* Requests the removal of the cgroup. Warns with its path if that fails. */
void own_cgroup_remove(struct own_cgroup *own);

/*
 * In a keeper, a child that waits for the end of the others to remove what they leave: ignores all
 * signals that can be ignored, and begins a session of its own.
 */
void keeper_detach(void);
/* Closes all descriptors from @from on, except @one and @other (-1: none). */
void keeper_close_others(int from, int one, int other);

#endif
