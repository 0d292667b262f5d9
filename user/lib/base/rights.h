/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies owner, group, mode and ACL of a file to the one that replaces it. */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

#include "base/path_end.h"

/*
 * Gives the file @fd, which is new and accessible to its user only, the rights of @from: owner and
 * group, the access ACL, the mode without set-user-ID, set-group-ID and sticky bits. Other extended
 * attributes are not copied. A negative errno: one of these failed; @fd must not be used.
 */
int rights_copy(const struct path_end *from, int fd);

#endif
