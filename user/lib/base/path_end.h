/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolves a path to an open folder and a name, without following links that another user made. */
#ifndef BASE_PATH_END_H
#define BASE_PATH_END_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* All zero: unused. */
struct path_end {
	int folder;              /* O_PATH */
	char name[NAME_MAX + 1]; /* name in the folder; not a link when it was checked */
	int fd;                  /* O_PATH of that file; -1 if it does not exist */
	struct stat st;          /* status of @fd */
	bool by_link;            /* the last component of the path was a link */
	const char *why;         /* static; a reason that strerror() cannot give, or NULL */
};

/*
 * Resolves @path for the effective user. Each step is relative to an open folder, and each link is
 * read through the descriptor by which it was checked, so replacing a file meanwhile has no effect.
 * A link in a world-writable folder (sticky or not) has to belong to the effective user or root,
 * whatever fs.protected_symlinks is. With @make_folders, missing folders are made with mode 0700.
 * Returns 0, also if only the last name is missing; -EACCES with @p->why if a link belongs to
 * another user; or another negative errno. After success the caller calls path_end_done().
 */
int path_end_find(struct path_end *p, const char *path, bool make_folders);
void path_end_done(struct path_end *p);
/*
 * Returns true if the file belongs neither to the effective user nor to root and is in a
 * world-writable folder: its owner may have put it there to be opened by another user.
 */
bool path_end_is_foreign(const struct path_end *p);
bool path_end_is_open_to_all(const struct path_end *p);
/* Sets @path to the path of @fd in /proc/self/fd, which stays valid if the name is replaced. */
void path_end_proc_path(const struct path_end *p, char path[32]);

/*
 * Gives the new file @fd, which only its user can access, the rights of @from: owner, group, access
 * ACL, and the mode without set-user-ID, set-group-ID and sticky bits. Other extended attributes
 * are not copied. Returns 0, or a negative errno: then @fd must not be used.
 */
int rights_copy(const struct path_end *from, int fd);

#endif
