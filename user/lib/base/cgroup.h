/* SPDX-License-Identifier: BSD-2-Clause */
/* Cgroups of the memory controller, version 1 or 2: bpfmon's own, and a new one below it. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

struct cgroup {
	char path[4096]; /* of its folder */
	bool is_v2;
};

/*
 * Finds in @proc ("/proc/self") the cgroup below which one for a command can be made: in version 1
 * the caller's own; in version 2 the nearest one from there upwards that has the controller enabled
 * for its children. On failure a negative errno, and in @why what is missing, without a full stop.
 */
int cgroup_find_parent(const char *proc, struct cgroup *parent, char *why, size_t size);
/* Makes a new one there, bpfmon-PID. Errors and @why as above. */
int cgroup_make(const char *proc, struct cgroup *cg, char *why, size_t size);
/* Moves the caller into @cg. */
int cgroup_join(const struct cgroup *cg);
/*
 * Removes @cg; one that is gone already is no error. Waits up to 0.1 s for processes in it that are
 * about to end; -EBUSY when it is still in use after that.
 */
int cgroup_remove(const struct cgroup *cg);

#endif
