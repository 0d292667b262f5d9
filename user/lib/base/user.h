/* SPDX-License-Identifier: BSD-2-Clause */
/* Users: the caller, with or without sudo; changing to one; owners of processes; capabilities. */
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

/* Whether a process is a user's own, for what may be done on behalf of a user that is not root. */

/*
 * 0: the process @pid_fd (a pidfd) is the own of the user @uid with the group @gid, as ptrace(2)
 * decides it: its real, effective and saved IDs are theirs, it has no capabilities but ambient
 * ones, it is dumpable (has not been executed with rights of its file, nor asked for protection),
 * and it is in the caller's user namespace. The IDs are numbers in that namespace. It holds for the
 * process that it was at that time: a later exec may give it other rights, as it may each of its
 * descendants. A caller that is another user needs CAP_SYS_PTRACE.
 *
 * Else @why is a sentence without a full stop. -EPERM: it is not, or that cannot be decided, as for
 * an @uid of 0; -ESRCH: it has ended; -EINVAL: @pid_fd is a thread;
 * -EBADMSG: it is no process, or none that this /proc has; or what reading /proc has given.
 */
int process_check_owner(int pid_fd, uid_t uid, gid_t gid, char *why, size_t size);

/*
 * Whether numbers of processes and times are the same there as for the caller: 0; or -EPERM, with
 * @why: the process @pid_fd is in another PID or time namespace, or that cannot be read.
 */
int process_check_numbers(int pid_fd, char *why, size_t size);

/* Drops capabilities, and root, for good. */

/*
 * For files that outlive the process that made them, where no user was named for those: no process
 * of privilege_leave_root() gets it.
 */
#define PRIVILEGE_FILES_UID 65519

/* Drops every capability but those in @keep (1 << CAP_...), for good, from the bounding set, too:
 * an exec gains none. 0, or a negative errno: the capabilities were not dropped. */
int privilege_keep(uint64_t keep);
/*
 * Before a change of user, after which privilege_keep() cannot do it any more: leaves only @keep in
 * the bounding set. Does nothing without CAP_SETPCAP. Takes 35 us.
 */
void privilege_bound(uint64_t keep);
/* Whether all of them are permitted to this process. */
bool privilege_has(uint64_t mask);
/* Makes those permitted capabilities effective that are in @mask; a later call may choose others.
 * 0, or a negative errno. */
int privilege_set_effective(uint64_t mask);
/* Drops every capability, but keeps what a program that is executed then inherits. As above. */
int privilege_return(void);
/*
 * For a process that has rights which its user has not: no other process of that user may trace it,
 * read its memory or take its descriptors, even where fs.suid_dumpable is 1, and neither may they
 * do so with what it forks. Until the next exec.
 */
void privilege_protect(void);
/*
 * For root, in a process without threads: changes to a user that has no other process and no file,
 * and keeps the capabilities in @keep, effective, and no others, for good. A process that is not
 * root keeps its user, as does one where the kernel refuses the change (a container that has only
 * root): then it is the same as privilege_keep(). A negative errno: the capabilities were not
 * dropped.
 */
int privilege_leave_root(uint64_t keep);

#endif
