/* SPDX-License-Identifier: BSD-2-Clause */
/* The revision that is checked out where a process works, read as files: git is never executed. */
#ifndef META_GIT_H
#define META_GIT_H

#include "model/meta.h"

/*
 * Of the repository that the folder @fd, which is left open, is in: upwards to where a file system
 * begins. What is there may be anybody's: links below .git are not followed, only regular files
 * are opened, only a revision and a branch that are well formed are taken; root reads only
 * a repository of its own. Call it with the rights of the user alone. -ENOENT: none, or not told.
 */
int git_read(int fd, struct git *g);
/* Is it what git_read() may have given? For what came from a process of less rights. */
bool git_is_valid(const struct git *g);

#endif
