/* SPDX-License-Identifier: BSD-2-Clause */
/* The container that a process is in, by what its cgroup and the container's files say. */
#ifndef META_CONTAINER_H
#define META_CONTAINER_H

#include "model/meta.h"

/* By the names of the cgroups of the process of @proc ("/proc/77"), which engines make alike. */
void container_of_process(const char *proc, struct container_info *c);
/* By the path of one cgroup. False: it has no such name. */
bool container_of_cgroup(const char *path, struct container_info *c);
/* Our own: beside the former, files that engines leave below @root ("": ours), and variables. */
void container_of_ours(const char *root, const char *proc, struct container_info *c);

#endif
