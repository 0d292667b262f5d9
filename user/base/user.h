/* SPDX-License-Identifier: BSD-2-Clause */
/* Users: who called sudo, and becoming somebody. */
#ifndef BASE_USER_H
#define BASE_USER_H

#include <stdbool.h>
#include <sys/types.h>

struct user {
	char name[64];
	uid_t uid;
	gid_t gid;
	char home[4096];
	char shell[4096];
};

/* -ENOENT: there is no such user. */
int user_by_name(const char *name, struct user *u);
/* Whether sudo runs us as root for a user that is not root. */
bool user_is_under_sudo(void);
/* The user who called us: before sudo, if sudo was; @was_sudo tells. Always somebody. */
void user_caller(struct user *u, bool *was_sudo);
/*
 * Whether we have rights that who called us has not: under sudo, or as a program with
 * set-user-ID, set-group-ID or capabilities. Then the caller's environment is not to choose what
 * is executed with them.
 */
bool user_rights_are_lent(void);
/* Takes the user's groups and ids for good. Needs root. */
int user_become(const struct user *u);
/* Sets HOME, USER, LOGNAME and SHELL as su does. */
int user_environment(const struct user *u);

#endif
