/* SPDX-License-Identifier: BSD-2-Clause */
/* What a child finds in the system that has the rights of another user. */
#ifndef ROLES_AS_USER_H
#define ROLES_AS_USER_H

#include "base/cgroup.h"
#include "base/user.h"

/*
 * cgroup_target_find() with the rights of @user: what that user cannot enter is not there, and the
 * sentence is the same. Needs root. Besides its errors -EIO: the child was killed.
 */
int as_user_find_cgroup(const struct user *user, const char *name, struct cgroup_target *t,
			char *why, size_t size);
/*
 * Whether /proc shows @user the command lines of other users, such as this process of root: not
 * where it is mounted with hidepid and @user is not in its group. An error hides them.
 */
bool as_user_sees_others(const struct user *user);

#endif
