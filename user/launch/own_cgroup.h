/* SPDX-License-Identifier: BSD-2-Clause */
/* The command's own cgroup: made before its process, removed after the roles have ended. */
#ifndef LAUNCH_OWN_CGROUP_H
#define LAUNCH_OWN_CGROUP_H

#include "base/cgroup.h"

/* A negative errno, after one line to the user. */
int own_cgroup_make(struct cgroup *cg);
/* Takes back what rights there are for it; says when it cannot be removed, and where it is. */
void own_cgroup_remove(const struct cgroup *cg);

#endif
