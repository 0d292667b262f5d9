/* SPDX-License-Identifier: BSD-2-Clause */
/* Cgroups of the memory controller, version 1 or 2: where ours is, and one made below it. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

struct cgroup {
	char path[4096]; /* of its folder */
	bool is_v2;
};

/*
 * Where a cgroup for a command of ours can be made, by what @proc ("/proc/self") says: in version 1
 * our own; in version 2 the nearest one from ours upwards that hands the controller to its
 * children. On failure a negative errno; @why then says what is missing, without a full stop.
 */
int cgroup_find_parent(const char *proc, struct cgroup *parent, char *why, size_t size);
/* Makes a new one there, bpfmon-PID. On failure as above. */
int cgroup_make(const char *proc, struct cgroup *cg, char *why, size_t size);
/* Moves the caller into @cg. */
int cgroup_join(const struct cgroup *cg);
/*
 * Removes @cg; one that is gone already is no error. Those that are just ending in it are waited
 * for, but not for long: -EBUSY when it is still in use after that.
 */
int cgroup_remove(const struct cgroup *cg);

#endif
