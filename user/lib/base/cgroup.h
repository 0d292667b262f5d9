/* SPDX-License-Identifier: BSD-2-Clause */
/* Cgroups of version 1 and 2: their mounts, new ones for a command, and those that a user names. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cgroup {
	char path[4096]; /* its folder */
	bool is_v2;
};

/*
 * Finds the cgroup below which one for a command can be made: in version 1 the caller's own, in
 * version 2 the nearest one from there upwards that has the controller enabled for its children.
 * @proc is "/proc/self". Returns 0, or a negative errno with a clause in @why, without a full stop.
 */
int cgroup_find_parent(const char *proc, struct cgroup *parent, char *why, size_t size);
/* Makes a cgroup bpfmon-PID below that one. Errors as above. */
int cgroup_make(const char *proc, struct cgroup *cg, char *why, size_t size);
int cgroup_join(const struct cgroup *cg);
/*
 * Removes @cg; it is no error if it is gone. Waits up to 0.1 s for its last processes to end, then
 * returns -EBUSY.
 */
int cgroup_remove(const struct cgroup *cg);

/* Mounts of cgroup hierarchies, and the place of a process in them. */

struct cgroup_mount {
	bool is_v2;
	char options[512]; /* of version 1; includes the controllers */
	char root[4096];   /* the cgroup that is visible at @point, as the kernel names it */
	char point[4096];
};

/* Decodes the escapes of mountinfo (\040 for a blank) in place. */
void mountinfo_unescape(char *text);
/*
 * Opens @proc/mountinfo ("/proc/self"). The caller closes it with fclose(). Returns NULL with errno
 * on failure.
 */
FILE *cgroup_mounts_open(const char *proc);
/* Reads the next mount of a cgroup hierarchy. Returns false at the end. */
bool cgroup_mount_next(FILE *f, struct cgroup_mount *m);
/* Returns true if @m is the version 1 hierarchy of @controller ("memory"). */
bool cgroup_mount_has(const struct cgroup_mount *m, const char *controller);

/*
 * Reads the path of the process @proc in the version 1 hierarchy of @controller, or in the unified
 * one (sets @is_v2) if there is no such hierarchy or @controller is NULL. Sets @id to the number of
 * the hierarchy, 0 for the unified one. Returns 0, or -ENOENT if it is in neither.
 */
int cgroup_of_process(const char *proc, const char *controller, char path[4096], bool *is_v2,
		      int *id);

/*
 * Finds the folder of the cgroup @path in the hierarchy of @controller (NULL: the unified one) by
 * @proc/mountinfo. Sets @mount to the length of the mount point, the beginning of @folder. Returns
 * 0, or -ENOENT if no visible mount contains it.
 */
int cgroup_find_folder(const char *proc, const char *controller, const char *path,
		       char folder[4096], size_t *mount);

/*
 * Returns the part of @path below @root, or NULL if it is elsewhere or hidden by the cgroup
 * namespace.
 */
const char *cgroup_path_below(const char *path, const char *root);

/* Returns true if @list, words between @separators, contains @word. */
bool list_has_word(const char *list, const char *word, const char *separators);

/* A cgroup that the user names, in any hierarchy. */

struct cgroup_target {
	struct cgroup cg;
	size_t mount_bytes;   /* length of the mount point, the beginning of cg.path */
	char controller[32];  /* a controller of the version 1 hierarchy; empty: unified */
	int hierarchy;        /* number of the hierarchy; 0: unified */
	char in_kernel[4096]; /* path as the kernel names it; empty if our namespace hides it */
	uint64_t id;          /* the kernel's id, never reused in a hierarchy */
};

/*
 * Finds @name: a folder, or a path below the mount point of a hierarchy. Of several matches, the
 * unified hierarchy is preferred, then that of the memory controller. @proc is "/proc/self".
 * Returns 0, or a negative errno with one sentence for the user in @why, without a full stop.
 */
int cgroup_target_find(const char *proc, const char *name, struct cgroup_target *t, char *why,
		       size_t size);
/* Returns the id of the cgroup that is at the path of @t now, or 0 if there is none. */
uint64_t cgroup_target_id(const struct cgroup_target *t);
/*
 * Returns the number of cgroups from the root to @t, both included; 0 if our namespace hides its
 * path.
 */
unsigned cgroup_target_depth(const struct cgroup_target *t);
/* Returns true if the cgroup or a descendant has a process. */
bool cgroup_target_is_populated(const struct cgroup_target *t);
/*
 * Finds the folder of the same path in the hierarchy of @controller ("cpuacct"): that of @t itself
 * in version 2, or if both controllers share a hierarchy. Returns 0 or -ENOENT.
 */
int cgroup_target_find_twin(const char *proc, const struct cgroup_target *t, const char *controller,
			    char path[4096]);

#endif
