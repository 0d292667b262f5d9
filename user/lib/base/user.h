/* SPDX-License-Identifier: BSD-2-Clause */
/* Users: the one that called bpfmon, through sudo or not, and changing to one. */
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
int user_find(const char *name, struct user *u);
/* Whether sudo runs this process as root for a user that is not root. */
bool user_is_under_sudo(void);
/* The user that called bpfmon; under sudo (@was_sudo) the one that called sudo. Cannot fail: a user
 * without an entry has its number as name, and / as home. */
void user_find_caller(struct user *u, bool *was_sudo);
/*
 * Whether this process has rights that its caller has not: under sudo, or as a program with
 * set-user-ID, set-group-ID or capabilities. Then the caller's environment must not choose what is
 * executed with these rights.
 */
bool user_rights_are_lent(void);
/*
 * Whether they come from bpfmon's file, and its caller is not root: what it does with them is for
 * the caller's own processes only. False under sudo, which has asked whether the caller may, and of
 * ambient capabilities, which are the caller's own.
 */
bool user_borrows_rights(void);
/* Changes to the user's groups and ids, for good. Needs root. 0, or a negative errno. */
int user_become(const struct user *u);
/* Sets HOME, USER, LOGNAME and SHELL, as su does. 0, or a negative errno. */
int user_set_environment(const struct user *u);

#endif
