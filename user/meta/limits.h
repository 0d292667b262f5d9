/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process may use: its cgroups and those above them, its CPUs, its resource limits. */
#ifndef META_LIMITS_H
#define META_LIMITS_H

#include "base/cgroup_target.h"
#include "model/meta.h"

/*
 * Of the process of @proc ("/proc/self", "/proc/77"), with the hierarchies that @self
 * ("/proc/self") says to be mounted. @own: a cgroup of the memory controller that it is in by the
 * time it counts; NULL: that in which it is.
 */
void limits_of_process(const char *self, const char *proc, const struct cgroup *own,
		       struct limits *l);
/* Of whoever is in the cgroup: what this and those above it allow. */
void limits_of_cgroup(const char *self, const struct cgroup_target *t, struct limits *l);

#endif
