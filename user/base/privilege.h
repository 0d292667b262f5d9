/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives up what is not needed any more. */
#ifndef BASE_PRIVILEGE_H
#define BASE_PRIVILEGE_H

#include <stdint.h>

/* Drops every capability but those in @keep (1 << CAP_...), for good: also over an exec. */
int privilege_keep(uint64_t keep);
/* Sets the effective ones to the permitted ones within @mask, which can be undone. */
int privilege_use(uint64_t mask);
/*
 * As root, without threads: becomes a user that nothing else runs as and that owns no file, with
 * the capabilities in @keep, in effect, and no others, for good. A process that is not root keeps
 * its user. Where the kernel does not permit another user (a container that has only root) it is
 * as privilege_keep(). A negative errno: the capabilities were not dropped.
 */
int privilege_leave_root(uint64_t keep);

#endif
