/* SPDX-License-Identifier: BSD-2-Clause */
/* A running container, found by what its user calls it. */
#ifndef CONTAINER_CONTAINER_H
#define CONTAINER_CONTAINER_H

#include "base/user.h"

#include <stddef.h>

struct container {
	const char *engine; /* static, one of engine_name() */
	char id[128];       /* the whole of it */
	pid_t pid;          /* of its first process, as we see it; it may end at any time */
};

/*
 * Finds the running container @name: its name, its id, or the beginning of its id, with "ENGINE:"
 * before it or not. Every engine whose client is in PATH (of what
 * capture() makes of it) is asked, as we are, and if we are root
 * and the @caller is not, as the caller, too, where he has containers of his own. A client that
 * hangs is given up after 10 s. Nobody else may reap children meanwhile.
 *
 * 0, or a negative errno, with one sentence in @why that has no full stop: -EINVAL: that is no
 * name; -ENOENT: there is none; -ESRCH: it is not running; -ENOTUNIQ: there are several; -ENOPKG:
 * no engine is installed; -EIO: none of those installed could be asked.
 */
int container_find(const char *name, const struct user *caller, struct container *c, char *why,
		   size_t size);

#endif
