/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolves a path to an open folder and a name, without following links that another user made. */
#ifndef BASE_PATH_END_H
#define BASE_PATH_END_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* All zero: none. */
struct path_end {
	int folder;              /* O_PATH */
	char name[NAME_MAX + 1]; /* in the folder; it was no link when it was checked */
	int fd;                  /* O_PATH of the file of that name; -1: there is none */
	struct stat st;          /* of fd */
	bool by_link;            /* the last part of the path was a link */
	const char *why;         /* static; NULL, or the reason that strerror() cannot give */
};

/*
 * Resolves @path for the effective user. Each step is relative to an open folder, and each link is
 * read through the descriptor that it was checked by: replacing a file meanwhile changes nothing. A
 * link in a folder that everybody may write to (sticky or not) has to be the effective user's or
 * root's, whatever the setting of fs.protected_symlinks. With @make_folders missing folders are
 * made, with mode 0700. 0, also where the last name is missing; -EACCES with p->why: a link belongs
 * to another user; or another negative errno. On success path_end_done() closes what is open.
 */
int path_end_find(struct path_end *p, const char *path, bool make_folders);
void path_end_done(struct path_end *p);
/*
 * Whether the file belongs neither to the effective user nor to root, in a folder that everybody
 * may write to: its owner may have put it there to be opened by another user.
 */
bool path_end_is_foreign(const struct path_end *p);
bool path_end_is_open_to_all(const struct path_end *p);
/* The path of fd below /proc/self/fd, which stays valid whatever happens to the name. */
void path_end_proc_path(const struct path_end *p, char path[32]);

/* Copies owner, group, mode and ACL of a file to the one that replaces it. */

/*
 * Gives the file @fd, which is new and accessible to its user only, the rights of @from: owner and
 * group, the access ACL, the mode without set-user-ID, set-group-ID and sticky bits. Other extended
 * attributes are not copied. A negative errno: one of these failed; @fd must not be used.
 */
int rights_copy(const struct path_end *from, int fd);

#endif
