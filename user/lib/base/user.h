/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Users: the caller, with or without sudo; changing to a user; owners of processes; capabilities.
 */
#ifndef BASE_USER_H
#define BASE_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct user {
	char name[64];
	uid_t uid;
	gid_t gid;
	char home[4096];
	char shell[4096];
};

/* Returns 0, or -ENOENT if there is no such user. */
int user_find(const char *name, struct user *u);
/* Returns true if sudo runs this process as root for an ordinary user. */
bool user_is_under_sudo(void);
/*
 * Finds the user that called bpfmon or, under sudo (sets @was_sudo), sudo. Cannot fail: a user
 * without an entry gets its number as name and / as home.
 */
void user_find_caller(struct user *u, bool *was_sudo);
/*
 * Returns true if this process has more rights than its caller: under sudo, or by set-user-ID,
 * set-group-ID or file capabilities. Then the caller's environment must not choose what is executed
 * with these rights.
 */
bool user_rights_are_lent(void);
/*
 * Returns true if the rights come from bpfmon's file and the caller is not root: they may be used
 * for the caller's own processes only. Returns false under sudo, which has checked the caller, and
 * for ambient capabilities, which are the caller's own.
 */
bool user_borrows_rights(void);
/* Changes to the groups and IDs of the user for good. Needs root. Returns 0 or a negative errno. */
int user_become(const struct user *u);
/* Sets HOME, USER, LOGNAME and SHELL like su. Returns 0 or a negative errno. */
int user_set_environment(const struct user *u);

/*
 * Checks that the process of the pidfd @pid_fd is @uid's and @gid's own, by the rules of ptrace(2):
 * its real, effective and saved IDs are theirs, it has only ambient capabilities, it is dumpable
 * (no rights from its file, no protection requested), and it is in the caller's user namespace,
 * whose IDs @uid and @gid are. Holds at that time only: a later exec may give the process or a
 * descendant other rights. Needs CAP_SYS_PTRACE if the caller is another user.
 *
 * Returns 0; -EPERM if it is not theirs or that cannot be decided, as for @uid 0; -ESRCH if it has
 * ended; -EINVAL if @pid_fd is a thread; -EBADMSG if it is no process of this /proc; or an error of
 * reading /proc. On failure @why is a sentence without a full stop.
 */
int process_check_owner(int pid_fd, uid_t uid, gid_t gid, char *why, size_t size);

/*
 * Checks that PIDs and times mean the same in the process @pid_fd as in the caller. Returns 0, or
 * -EPERM with @why if it is in another PID or time namespace or that cannot be read.
 */
int process_check_numbers(int pid_fd, char *why, size_t size);

/* Dropping of capabilities and root for good. */

/*
 * User of files that outlive the process that made them, if no other user is configured. No process
 * gets it from privilege_leave_root().
 */
#define PRIVILEGE_FILES_UID 65519

/*
 * Drops all capabilities but @keep (1 << CAP_...) for good, also from the bounding set, so that an
 * exec gains none. Returns 0, or a negative errno if they were not dropped.
 */
int privilege_keep(uint64_t keep);
/*
 * Leaves only @keep in the bounding set. For use before a change of user, after which
 * privilege_keep() cannot do it. Does nothing without CAP_SETPCAP. Takes 35 us.
 */
void privilege_bound(uint64_t keep);
/* Returns true if all capabilities of @mask are permitted. */
bool privilege_has(uint64_t mask);
/*
 * Makes the permitted capabilities in @mask effective, and no others, until the next call. Returns
 * 0 or a negative errno.
 */
int privilege_set_effective(uint64_t mask);
/*
 * Drops all capabilities except those that an executed program inherits. Returns 0 or a negative
 * errno.
 */
int privilege_drop_all(void);
/*
 * Protects a process that has more rights than its user: until the next exec no other process of
 * the user may trace it or its children, read their memory or take their descriptors, even where
 * fs.suid_dumpable is 1.
 */
void privilege_protect(void);
/*
 * For root in a process without threads: changes to a user without other processes and files, and
 * keeps only the capabilities @keep, effective, for good. A process that is not root, or to which
 * the kernel refuses the change (a container with root only), keeps its user: then this equals
 * privilege_keep(). Returns 0, or a negative errno if the capabilities were not dropped.
 */
int privilege_leave_root(uint64_t keep);

#endif
