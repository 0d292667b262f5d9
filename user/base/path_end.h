/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a path leads, through no link that somebody else has planted: an open folder and a name. */
#ifndef BASE_PATH_END_H
#define BASE_PATH_END_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* All zero: none. */
struct path_end {
	int folder;              /* O_PATH */
	char name[NAME_MAX + 1]; /* in the folder; it was no link when it was looked at */
	int fd;                  /* O_PATH of what has the name; -1: nothing has */
	struct stat st;          /* of fd */
	bool by_link;            /* the last part of the path was a link */
	const char *why; /* static; after an error that strerror() cannot explain, or NULL */
};

/*
 * Resolves @path for the effective user. Each step is relative to an open folder, and each link is
 * read from the descriptor that it was checked by: what is swapped meanwhile changes nothing. A
 * link in a folder that everybody may write to (sticky or not) has to be the effective user's or
 * root's, whatever fs.protected_symlinks says. With @make_folders missing folders are made, for
 * their user alone. 0, also where the last name is missing; -EACCES with p->why: a link is another
 * user's; or another negative errno. Without an error path_end_done() closes what is
 * open.
 */
int path_end_find(struct path_end *p, const char *path, bool make_folders);
void path_end_done(struct path_end *p);
/*
 * What has the name is neither the effective user's nor root's, in a folder that everybody may
 * write to: the owner may have waited for us there.
 */
bool path_end_is_foreign(const struct path_end *p);
bool path_end_is_open_to_all(const struct path_end *p);
/* A path of fd that leads there whatever becomes of the name; it needs /proc. */
void path_end_link(const struct path_end *p, char path[32]);

#endif
