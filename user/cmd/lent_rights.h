/* SPDX-License-Identifier: BSD-2-Clause */
/* File capabilities lend rights to every user: they are for the processes of that user only. */
#ifndef CMD_LENT_RIGHTS_H
#define CMD_LENT_RIGHTS_H

#include "base/cgroup_target.h"
#include "cmd/attach.h"

/*
 * 0 if the caller may attach to the cgroup @t, or with NULL to the processes that @o names; with
 * rights of its own (root, sudo, ambient capabilities) it may attach to all. -EPERM after one line
 * to the user.
 */
int lent_rights_check(const struct attach_options *o, const struct cgroup_target *t);

#endif
