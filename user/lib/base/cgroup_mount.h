/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the hierarchies of cgroups are mounted, and where a process is in them. */
#ifndef BASE_CGROUP_MOUNT_H
#define BASE_CGROUP_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

#endif
