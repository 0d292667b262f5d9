/* SPDX-License-Identifier: BSD-2-Clause */
/* The limits of a process: those of its cgroups and their parents, its CPUs, its resource limits.
 */
#ifndef RUN_META_LIMITS_H
#define RUN_META_LIMITS_H

#include "base/cgroup.h"
#include "run/meta.h"

/*
 * Reads those of the process of @proc ("/proc/self", "/proc/77"); @self ("/proc/self") has the
 * mounts. @own: the cgroup of the memory controller that the process will be moved to; NULL: it
 * stays where it is. What cannot be read stays unchanged in @l.
 */
void limits_of_process(const char *self, const char *proc, const struct cgroup *own,
		       struct limits *l);
/* Reads those that hold for every process in the cgroup @t: its own and those of its parents. */
void limits_of_cgroup(const char *self, const struct cgroup_target *t, struct limits *l);

#endif
