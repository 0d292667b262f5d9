/* SPDX-License-Identifier: BSD-2-Clause */
/* Rights that the file lends to whoever executes it (file capabilities): for its own processes. */
#ifndef CMD_LENT_RIGHTS_H
#define CMD_LENT_RIGHTS_H

#include "base/cgroup_target.h"
#include "cmd/attach.h"

/*
 * Whether the caller may attach to what @o names, and to @t if that is a cgroup; NULL: it is
 * processes. A caller whose rights are its own (root, sudo, ambient capabilities) may. -EPERM,
 * after one line to the user.
 */
int lent_rights_check(const struct attach_options *o, const struct cgroup_target *t);

#endif
