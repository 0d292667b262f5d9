/* SPDX-License-Identifier: BSD-2-Clause */
/* The revision that is checked out in a process's working folder. Reads git's files: git itself is
 * never executed. */
#ifndef RUN_GIT_H
#define RUN_GIT_H

#include "run/meta.h"

/*
 * Reads the repository that contains the folder @fd (which stays open), searched upwards to the
 * root of the file system. The files may be another user's: links below .git are not followed, only
 * regular files are opened, only a well-formed revision and branch are accepted, and root reads
 * only a repository of its own. To be called with the rights of the user alone. 0; -ENOENT: there
 * is no repository, or it may not or cannot be read.
 */
int git_read(int fd, struct git *g);
/* Whether git_read() can have returned @g: a check of data from a process with fewer rights. */
bool git_is_valid(const struct git *g);

#endif
