/* SPDX-License-Identifier: BSD-2-Clause */
/* Identifies the container of a process by its cgroups and by files of the container. */
#ifndef RUN_META_CONTAINER_H
#define RUN_META_CONTAINER_H

#include "run/meta.h"

/* By the cgroups of the process of @proc ("/proc/77"): engines name those by a pattern. @c is left
 * unchanged if none matches. */
void container_of_process(const char *proc, struct container_info *c);
/* By the path of one cgroup. False: it matches no pattern. */
bool container_of_cgroup(const char *path, struct container_info *c);
/* That of this process: by its cgroups, by files of engines below @root ("": its own), and by
 * environment variables. */
void container_of_self(const char *root, const char *proc, struct container_info *c);

#endif
