/* SPDX-License-Identifier: BSD-2-Clause */
/* The cgroup that an engine has made for a container. */
#ifndef CONTAINER_CONTAINER_CGROUP_H
#define CONTAINER_CONTAINER_CGROUP_H

#include "container/container.h"

/*
 * The folder of the cgroup that is @c's alone, which its id in the name tells: in the memory
 * controller's hierarchy of version 1, else the unified one, else any other; what the container has
 * made below it is left off. @proc is "/proc". -ENOENT: it has none of its own, or we do not see
 * it.
 */
int container_cgroup(const char *proc, const struct container *c, char folder[4096]);

#endif
