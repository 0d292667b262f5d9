/* SPDX-License-Identifier: BSD-2-Clause */
/* The limits of a process: those of its cgroups and their parents, its CPUs, its resource limits.
 */
#ifndef RUN_META_CGROUP_H
#define RUN_META_CGROUP_H

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

/* Identifies the container of a process by its cgroups and by files of the container. */

/* By the cgroups of the process of @proc ("/proc/77"): engines name those by a pattern. @c is left
 * unchanged if none matches. */
void container_of_process(const char *proc, struct container_info *c);
/* By the path of one cgroup. False: it matches no pattern. */
bool container_of_cgroup(const char *path, struct container_info *c);
/* That of this process: by its cgroups, by files of engines below @root ("": its own), and by
 * environment variables. */
void container_of_self(const char *root, const char *proc, struct container_info *c);

#endif
