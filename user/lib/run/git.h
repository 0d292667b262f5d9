/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the revision of a working folder from git's files. git itself is never executed. */
#ifndef RUN_GIT_H
#define RUN_GIT_H

#include "run/meta.h"

/*
 * Reads the repository that contains the folder @fd, searching upwards to the root of the file
 * system. @fd stays open. The files may belong to another user: symbolic links below .git are not
 * followed, only regular files are opened, only a well-formed revision and branch are accepted, and
 * root reads only a repository of its own. Call it only with the rights of the user. Returns 0, or
 * -ENOENT if there is no repository or it cannot be read.
 */
int git_read(int fd, struct git *g);
/* Checks data from a less privileged process: returns false if git_read() cannot produce @g. */
bool git_is_valid(const struct git *g);

#endif
