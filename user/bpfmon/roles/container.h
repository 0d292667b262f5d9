/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds a running container by its name or ID, and its cgroup. */
#ifndef ROLES_CONTAINER_H
#define ROLES_CONTAINER_H

#include "base/user.h"

#include <stddef.h>

struct container {
	const char *engine; /* static; name of the container engine */
	char id[128];       /* complete */
	pid_t pid; /* of its first process, in bpfmon's namespace; it may end at any time */
};

/*
 * Finds the running container @name: its name, its ID or the beginning of its ID, optionally after
 * "ENGINE:". Queries each engine with a client that capture_run() finds, as the effective user and,
 * if that is root and @caller is not, also as @caller if that user has containers. A client that
 * hangs is killed after 10 s. No other code may reap children meanwhile.
 *
 * Returns 0, or a negative errno with a sentence without a full stop in @why: -EINVAL: not a name;
 * -ENOENT: no such container; -ESRCH: it is not running; -ENOTUNIQ: there are several; -ENOPKG: no
 * engine is installed; -EIO: all installed ones failed.
 */
int container_find(const char *name, const struct user *caller, struct container *c, char *why,
		   size_t size);

/*
 * Finds the cgroup folder that belongs to @c alone: the one with its ID in the name, without what
 * the container has created below it. Prefers the version 1 hierarchy of the memory controller,
 * then the unified one, then any other.
 * @proc is "/proc". Returns 0, or -ENOENT if the container has no cgroup of its own or none that is
 * visible from here.
 */
int container_find_cgroup(const char *proc, const struct container *c, char folder[4096]);

#endif
