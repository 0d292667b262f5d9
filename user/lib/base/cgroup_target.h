/* SPDX-License-Identifier: BSD-2-Clause */
/* A cgroup that is named by the user, in any hierarchy. */
#ifndef BASE_CGROUP_TARGET_H
#define BASE_CGROUP_TARGET_H

#include "base/cgroup.h"

#include <stdint.h>

struct cgroup_target {
	struct cgroup cg;
	size_t mount_bytes;   /* the length of the mount point, which cg.path begins with */
	char controller[32];  /* one of the hierarchy of version 1; empty: unified */
	int hierarchy;        /* its number; 0: unified */
	char in_kernel[4096]; /* its path as the kernel names it; empty: our namespace hides it */
	uint64_t id;          /* the kernel's, never used twice in a hierarchy */
};

/*
 * Finds @name: a folder, or a path below the mount point of a hierarchy; of several matches the
 * unified hierarchy's comes first, then the memory controller's. @proc is "/proc/self". On failure
 * a negative errno, and in @why a whole sentence for the user, without a full stop.
 */
int cgroup_target_find(const char *proc, const char *name, struct cgroup_target *t, char *why,
		       size_t size);
/* The id of the cgroup that is at its path now; 0: there is none. */
uint64_t cgroup_target_id(const struct cgroup_target *t);
/* The number of cgroups from the root to @t, both included; 0: our namespace hides its path. */
unsigned cgroup_target_depth(const struct cgroup_target *t);
/* Whether there is a process in it or below it. */
bool cgroup_target_is_populated(const struct cgroup_target *t);
/*
 * The folder of the same path in the hierarchy of @controller ("cpuacct"): that of @t itself in
 * version 2, and where both controllers share a hierarchy. -ENOENT: there is none.
 */
int cgroup_target_find_twin(const char *proc, const struct cgroup_target *t, const char *controller,
			    char path[4096]);

#endif
