/* SPDX-License-Identifier: BSD-2-Clause */
/* Drops capabilities, and root, for good. */
#ifndef BASE_PRIVILEGE_H
#define BASE_PRIVILEGE_H

#include <stdint.h>

/* Drops every capability but those in @keep (1 << CAP_...), for good: an exec gains none. 0, or a
 * negative errno: the capabilities were not dropped. */
int privilege_keep(uint64_t keep);
/* Makes those permitted capabilities effective that are in @mask; a later call may choose others.
 * 0, or a negative errno. */
int privilege_set_effective(uint64_t mask);
/*
 * For root, in a process without threads: changes to a user that has no other process and no file,
 * and keeps the capabilities in @keep, effective, and no others, for good. A process that is not
 * root keeps its user, as does one where the kernel refuses the change (a container that has only
 * root): then it is the same as privilege_keep(). A negative errno: the capabilities were not
 * dropped.
 */
int privilege_leave_root(uint64_t keep);

#endif
