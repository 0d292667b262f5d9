/* SPDX-License-Identifier: BSD-2-Clause */
/* A running container, found by its name or its id. */
#ifndef ROLES_CONTAINER_H
#define ROLES_CONTAINER_H

#include "base/user.h"

#include <stddef.h>

struct container {
	const char *engine; /* static, one of engine_name() */
	char id[128];       /* not shortened */
	pid_t pid; /* of its first process, in bpfmon's namespace; it may end at any time */
};

/*
 * Finds the running container @name: its name, its id or the beginning of its id, with or without
 * "ENGINE:" before it. Each engine with a client that capture_run() finds is asked as the effective
 * user and, if that is root and @caller is not, as @caller, too, if that user has containers. A
 * client that hangs is killed after 10 s. No other code may reap children meanwhile.
 *
 * 0, or a negative errno, with one sentence without a full stop in @why: -EINVAL: not a name;
 * -ENOENT: no such container; -ESRCH: it is not running; -ENOTUNIQ: there are several; -ENOPKG: no
 * engine is installed; -EIO: all installed ones failed.
 */
int container_find(const char *name, const struct user *caller, struct container *c, char *why,
		   size_t size);

/* The cgroup that an engine has made for a container. */

/*
 * The folder of the cgroup that is @c's alone: the one with its id in the name, without what the
 * container has made below it. In the memory controller's hierarchy of version 1, else the unified
 * one, else any other. @proc is "/proc". 0; -ENOENT: it has none of its own, or none that is
 * visible from here.
 */
int container_find_cgroup(const char *proc, const struct container *c, char folder[4096]);

#endif
