/* SPDX-License-Identifier: BSD-2-Clause */
/* A cgroup that somebody names, in whatever hierarchy. */
#ifndef BASE_CGROUP_TARGET_H
#define BASE_CGROUP_TARGET_H

#include "base/cgroup.h"

#include <stdint.h>

struct cgroup_target {
	struct cgroup cg;
	size_t mount_bytes;   /* of cg.path: where the hierarchy is mounted */
	char controller[32];  /* one that the hierarchy of version 1 has; empty: unified */
	int hierarchy;        /* its number; 0: unified */
	char in_kernel[4096]; /* its path as the kernel names it; empty: our namespace hides it */
	uint64_t id;          /* the kernel's, never used again in the hierarchy */
};

/*
 * Finds @name: a folder, or a path below where a hierarchy is mounted; of several, the unified
 * one's comes first, then the memory controller's. @proc is "/proc/self". On failure a negative
 * errno;
 * @why then is a whole sentence for the user, without a full stop.
 */
int cgroup_target_find(const char *proc, const char *name, struct cgroup_target *t, char *why,
		       size_t size);
/* The id of the cgroup that has its path now; 0: there is none. */
uint64_t cgroup_target_id(const struct cgroup_target *t);
/* How many cgroups there are from the root to it, both included; 0: our namespace hides it. */
unsigned cgroup_target_depth(const struct cgroup_target *t);
/* Is any process in it, or below it? */
bool cgroup_target_is_populated(const struct cgroup_target *t);
/*
 * The folder of the same path in the hierarchy of @controller ("cpuacct"): itself in version 2, or
 * where that has one hierarchy with it. -ENOENT: there is none.
 */
int cgroup_target_twin(const char *proc, const struct cgroup_target *t, const char *controller,
		       char path[4096]);

#endif
