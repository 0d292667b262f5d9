/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the hierarchies of cgroups are mounted, and where a process is in them. */
#ifndef BASE_CGROUP_MOUNT_H
#define BASE_CGROUP_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cgroup_mount {
	bool is_v2;
	char options[512]; /* of version 1; its controllers are among them */
	char root[4096];   /* the cgroup that is shown at @point, as the kernel names it */
	char point[4096];
};

/* Opens @proc/mountinfo ("/proc/self"); the caller closes it. NULL: errno says why. */
FILE *cgroup_mounts_open(const char *proc);
/* Reads on to the next one that is of cgroups. False: there is none. */
bool cgroup_mount_next(FILE *f, struct cgroup_mount *m);
/* Is @controller ("memory") of this hierarchy of version 1? */
bool cgroup_mount_has(const struct cgroup_mount *m, const char *controller);

/*
 * The path of the process of @proc in the hierarchy of version 1 that has @controller; else, or
 * where @controller is NULL, in the unified one (@is_v2). @id: the hierarchy's number; 0: unified.
 */
int cgroup_of_process(const char *proc, const char *controller, char path[4096], bool *is_v2,
		      int *id);

/*
 * The folder that shows the cgroup @path of the hierarchy that has @controller; NULL: the unified
 * one. @proc says what is mounted. @mount: how much of @folder is where the hierarchy is mounted.
 * -ENOENT: it is mounted nowhere that we see.
 */
int cgroup_folder(const char *proc, const char *controller, const char *path, char folder[4096],
		  size_t *mount);

/* What of @path lies below @root; NULL: it lies elsewhere, or is hidden from us. */
const char *cgroup_path_below(const char *path, const char *root);

/* Is @word in @list, whose words are separated by @separators? */
bool list_has_word(const char *list, const char *word, const char *separators);

#endif
