/* SPDX-License-Identifier: BSD-2-Clause */
/* Cgroups, version 1 or 2: where they are mounted, new ones for a command, those a user names. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

/* Where the hierarchies of cgroups are mounted, and where a process is in them. */

struct cgroup_mount {
	bool is_v2;
	char options[512]; /* of version 1; the controllers are among them */
	char root[4096];   /* the cgroup that is visible at @point, as the kernel names it */
	char point[4096];
};

/* In mountinfo a blank is \040, and so on; @text becomes what is meant. */
void mountinfo_unescape(char *text);
/* Opens @proc/mountinfo ("/proc/self"), to be closed with fclose(). NULL: see errno. */
FILE *cgroup_mounts_open(const char *proc);
/* Reads on to the next mount of a cgroup hierarchy. False: there is none. */
bool cgroup_mount_next(FILE *f, struct cgroup_mount *m);
/* Whether @m is the hierarchy of version 1 that has @controller ("memory"). */
bool cgroup_mount_has(const struct cgroup_mount *m, const char *controller);

/*
 * The path of the process of @proc in the hierarchy of version 1 that has @controller; without such
 * a one, or with a @controller of NULL, in the unified hierarchy (@is_v2). @id: the hierarchy's
 * number; 0: unified. -ENOENT: it is in none of them.
 */
int cgroup_of_process(const char *proc, const char *controller, char path[4096], bool *is_v2,
		      int *id);

/*
 * The folder of the cgroup @path in the hierarchy that has @controller (NULL: the unified one), as
 * mounted by @proc/mountinfo. @mount: the length of the mount point, which @folder begins with.
 * -ENOENT: no mount that is visible here contains it.
 */
int cgroup_find_folder(const char *proc, const char *controller, const char *path,
		       char folder[4096], size_t *mount);

/* The part of @path below @root; NULL: it is elsewhere, or hidden by the namespace of cgroups. */
const char *cgroup_path_below(const char *path, const char *root);

/* Whether @word is in @list, a list of words with @separators between them. */
bool list_has_word(const char *list, const char *word, const char *separators);

/* A cgroup that is named by the user, in any hierarchy. */

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
