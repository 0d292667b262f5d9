/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the limits of a process (cgroups, CPUs, resource limits) and identifies its container. */
#ifndef RUN_META_CGROUP_H
#define RUN_META_CGROUP_H

#include "base/cgroup.h"
#include "run/meta.h"

/*
 * Reads the limits of the process of @proc ("/proc/self", "/proc/77") into @l. The mounts come from
 * @self ("/proc/self"). @own is the cgroup of the memory controller that the process will be moved
 * to, or NULL if it stays where it is. Values that cannot be read stay unchanged.
 */
void limits_of_process(const char *self, const char *proc, const struct cgroup *own,
		       struct limits *l);
/* Reads the limits of the cgroup @t and its ancestors, which apply to every process in it. */
void limits_of_cgroup(const char *self, const struct cgroup_target *t, struct limits *l);
/*
 * The same, without a search in the mounts, of one controller, "memory" or "cpu". @cg is in its
 * hierarchy; the first @mount_bytes of its path are the mount point.
 */
void limits_of_folder(const struct cgroup *cg, size_t mount_bytes, const char *controller,
		      struct limits *l);
/*
 * Returns the CPU request, in thousandths of a core, from which the kubelet has computed the share
 * of the cgroup @cg, in version 1 that of a pod or its container, in version 2 that of a pod: the
 * weight of a container is computed by the runtime, since 2025 by another formula. Returns 0 if
 * there is none, or it cannot be known. In version 2 it is rounded down, by up to 26.
 */
uint64_t cpu_request_of_folder(const struct cgroup *cg, size_t mount_bytes);

/*
 * Identifies the container of the process of @proc ("/proc/77") by the names of its cgroups. Leaves
 * @c unchanged if no engine's pattern matches.
 */
void container_of_process(const char *proc, struct container_info *c);
/* Identifies the container by the path of one cgroup. Returns false if no pattern matches. */
bool container_of_cgroup(const char *path, struct container_info *c);
/*
 * Identifies the container of this process by its cgroups, by files of engines below @root ("" for
 * its own root) and by environment variables.
 */
void container_of_self(const char *root, const char *proc, struct container_info *c);

#endif
