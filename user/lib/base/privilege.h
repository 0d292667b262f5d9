/* SPDX-License-Identifier: BSD-2-Clause */
/* Drops capabilities, and root, for good. */
#ifndef BASE_PRIVILEGE_H
#define BASE_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

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
