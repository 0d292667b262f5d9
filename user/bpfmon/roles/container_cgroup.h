/* SPDX-License-Identifier: BSD-2-Clause */
/* The cgroup that an engine has made for a container. */
#ifndef ROLES_CONTAINER_CGROUP_H
#define ROLES_CONTAINER_CGROUP_H

#include "bpfmon/roles/container.h"

/*
 * The folder of the cgroup that is @c's alone: the one with its id in the name, without what the
 * container has made below it. In the memory controller's hierarchy of version 1, else the unified
 * one, else any other. @proc is "/proc". 0; -ENOENT: it has none of its own, or none that is
 * visible from here.
 */
int container_find_cgroup(const char *proc, const struct container *c, char folder[4096]);

#endif
