/* SPDX-License-Identifier: BSD-2-Clause */
/* Owner, group, mode and ACL of a file, for the one that takes its place. */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

#include "base/path_end.h"

/*
 * Gives the file @fd, which is new and its user's alone, the rights of @from: owner and group, the
 * access ACL, the mode without set-user-ID, set-group-ID and sticky bits. Other extended attributes
 * stay behind. A negative errno: one of these could not be had, and @fd is not to be used.
 */
int rights_copy(const struct path_end *from, int fd);

#endif
