// SPDX-License-Identifier: BSD-2-Clause
#include "launch/rights.h"

#include "base/privilege.h"
#include "base/seccomp.h"

#include <linux/capability.h>
#include <stdint.h>

void rights_of_launcher(bool has_command)
{
	privilege_leave_root(has_command ? 1ULL << CAP_KILL : 0);
	seccomp_install(SECCOMP_LAUNCHER);
}
